-- turn: ARGV = clock, id, token -> ms to wait before the next request to the host under this lease; -1 = lease lost
local function main(now)
  local holder = held(ARGV[2], ARGV[3])
  if not holder then return -1 end
  return reserve(touch(holder.host), now) - now
end
