-- turn: ARGV = clock, id, token -> ms to wait before the next request to the host under this lease; -1 = lease lost
local function main(now)
  local holder = leased_by(ARGV[2], ARGV[3])
  if not holder then return -1 end
  local host, its = touch(holder.host), scopes_of(holder.host)
  rest_all(host, its, now) -- the delay runs from the end of the previous response
  return reserve(host, its, now) - now
end
