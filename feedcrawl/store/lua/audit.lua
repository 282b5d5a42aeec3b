-- audit: ARGV = clock, limit -> [holders that had no lease, hosts whose slots were held by nobody]
-- What is held is a few tasks for each worker; where it is more than `limit`, nothing is looked at.
local function main(now)
  if redis.call('HLEN', P .. 'holders') > tonumber(ARGV[2]) then return {0, 0} end
  local slots, unleased, freed = {}, 0, 0
  local holders = redis.call('HGETALL', P .. 'holders')
  for i = 1, #holders, 2 do
    local slot, host = string.match(holders[i + 1], '^%S+ (%d) (.*)$')
    if slot == '1' then slots[host] = (slots[host] or 0) + 1 end
    if not redis.call('ZSCORE', P .. 'leases', holders[i]) then
      redis.call('ZADD', P .. 'leases', now, holders[i])
      unleased = unleased + 1
    end
  end
  for _, lane in ipairs(LANES) do
    for _, name in ipairs(redis.call('ZRANGE', P .. 'blocked:' .. lane, 0, tonumber(ARGV[2]))) do
      local host = host_of(name)
      if host.busy > (slots[name] or 0) then
        touch(name).busy = slots[name] or 0
        freed = freed + 1
      end
    end
  end
  return {unleased, freed}
end
