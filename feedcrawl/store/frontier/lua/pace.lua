-- pace: ARGV = clock, host or scope (`@example.com`), delay ms ('' = leave), concurrency ('' = leave), for a scope: delay
--   ms of each of its hosts that has no delay of its own ('' = leave, 0 = none)
local function main()
  local scope = scope_named(ARGV[2])
  local paced = scope or touch(ARGV[2])
  if scope then stir(scope) end
  paced.delay = tonumber(ARGV[3]) or rawget(paced, 'delay')
  paced.concurrency = tonumber(ARGV[4]) or rawget(paced, 'concurrency')
  local hosts_delay = tonumber(ARGV[5])
  if hosts_delay then paced.hosts_delay = hosts_delay > 0 and hosts_delay or nil end
  return 1
end
