-- audit: ARGV = clock, limit -> [holders that had no lease, hosts and domains with slots that no task held]
-- Workers hold a few tasks each; if all together hold more than `limit`, nothing is checked.
local function main(now)
  if redis.call('HLEN', P .. 'holders') > tonumber(ARGV[2]) then return {0, 0} end
  local slots, unleased, freed = {}, 0, 0
  local holders = redis.call('HGETALL', P .. 'holders')
  for i = 1, #holders, 2 do
    local slot, host = string.match(holders[i + 1], '^%S+ (%d) (.*)$')
    if slot == '1' then
      local _, domain = domain_of(host)
      slots[host] = (slots[host] or 0) + 1
      if domain then slots['@' .. domain] = (slots['@' .. domain] or 0) + 1 end
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
      local domain = string.match(name, '^@(.*)$')
      local paced = domain and load_domain(domain) or host_of(name)
      if paced.busy > (slots[name] or 0) then
        paced.busy = slots[name] or 0
        if domain then stir(domain, lane) else touch(name) end
        freed = freed + 1
      end
    end
  end
  return {unleased, freed}
end
