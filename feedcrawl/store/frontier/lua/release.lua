-- release: ARGV = clock, id, token, signal, wait ms (Retry-After, '' where none)
--   -> [circuit before, circuit after, ms until the host's next turn, [scope, its circuit before, after]… of changed scopes]
local id, token = ARGV[2], ARGV[3]

local function main(now)
  local holder = leased_by(id, token)
  if not holder then return {'lost', 'lost', 0, {}} end
  local before, after, changes = signal_host(holder.host, ARGV[4], tonumber(ARGV[5]), now)
  if holder.slot then redis.call('HSET', P .. 'holders', id, token .. ' 0 ' .. holder.host) end
  free_slot(holder, now)
  return {before, after, math.max(0, host_of(holder.host).next_at - now), changes}
end
