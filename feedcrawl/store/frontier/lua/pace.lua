-- pace: ARGV = clock, host or scope (`@example.com`), delay ms ('' = leave), concurrency ('' = leave), for a scope: delay
--   ms of each of its hosts that has no delay of its own ('' = leave, 0 = none), for a host: the origin whose robots.txt
--   states the delay ('' = none does); such an origin without delay unsets the delay that it stated before
local function main()
  local scope, origin = scope_named(ARGV[2]), ARGV[6]
  if origin ~= '' and ARGV[3] == '' then
    local host = host_of(ARGV[2])
    if rawget(host, 'stated_by') == origin then
      redis.call('HDEL', host_key(ARGV[2]), 'delay', 'stated_by')
      host.delay, host.stated_by = nil, nil
    end
    return 1
  end
  local paced = scope or touch(ARGV[2])
  if scope then stir(scope) end
  paced.delay = tonumber(ARGV[3]) or rawget(paced, 'delay')
  if ARGV[3] ~= '' and (origin ~= '' or rawget(paced, 'stated_by')) then paced.stated_by = origin end
  paced.concurrency = tonumber(ARGV[4]) or rawget(paced, 'concurrency')
  local hosts_delay = tonumber(ARGV[5])
  if hosts_delay then paced.hosts_delay = hosts_delay > 0 and hosts_delay or nil end
  return 1
end
