-- turn: ARGV = clock, id, token -> ms to wait before the next request to the host under this lease; -1 = lease lost
local function main(now)
  local holder = held(ARGV[2], ARGV[3])
  if not holder then return -1 end
  local host, domain, its = touch(holder.host), domain_of(holder.host)
  local delay = delay_of(host, domain)
  rest(host, delay, now) -- the delay runs from the end of the previous response
  if domain then
    rest(domain, domain_delay(domain, delay), now)
    stir(its)
  end
  return reserve(host, domain, now) - now
end
