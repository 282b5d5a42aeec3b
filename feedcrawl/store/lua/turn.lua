-- turn: ARGV = clock, id, token -> ms to wait before the next request to the host under this lease; -1 = lease lost
local function main(now)
  local holder = held(ARGV[2], ARGV[3])
  if not holder then return -1 end
  local host = touch(holder.host)
  -- With one connection per host the delay runs from the end of the answer that this turn follows.
  if host.concurrency == 1 then host.next_at = math.max(host.next_at, now + delay_of(host)) end
  return reserve(host, now) - now
end
