-- audit: ARGV = clock, limit -> [holders that had no lease, hosts and scopes with slots that no task held]
-- Workers hold a few tasks each; if all together hold more than `limit`, nothing is checked.
local function main(now)
  if redis.call('HLEN', P .. 'holders') > tonumber(ARGV[2]) then return {0, 0} end
  local slots, unleased, freed = {}, 0, 0
  local holders = redis.call('HGETALL', P .. 'holders')
  for i = 1, #holders, 2 do
    local slot, host = string.match(holders[i + 1], '^%S+ (%d) (.*)$')
    if slot == '1' then
      slots[host] = (slots[host] or 0) + 1
      for _, scope in ipairs(scopes_of(host)) do
        local its = scope.mark .. scope.key
        slots[its] = (slots[its] or 0) + 1
      end
    end
    if not redis.call('ZSCORE', P .. 'leases', holders[i]) then
      redis.call('ZADD', P .. 'leases', now, holders[i])
      unleased = unleased + 1
    end
  end
  local lanes = redis.call('SMEMBERS', P .. 'lanes')
  for _, lane in ipairs(LANES) do lanes[#lanes + 1] = lane end
  for _, lane in ipairs(lanes) do
    for _, name in ipairs(redis.call('ZRANGE', P .. 'blocked:' .. lane, 0, tonumber(ARGV[2]))) do
      local scope = scope_named(name)
      local paced = scope or host_of(name)
      if paced.busy > (slots[name] or 0) then
        paced.busy = slots[name] or 0
        if scope then stir(scope, lane) else touch(name) end
        freed = freed + 1
      end
    end
  end
  return {unleased, freed}
end
