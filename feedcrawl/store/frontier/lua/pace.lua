-- pace: ARGV = clock, host or registered domain, delay ms ('' = leave), concurrency ('' = leave), 'host' | 'domain', for a
--   domain: delay ms of each of its hosts that has no delay of its own ('' = leave, 0 = none)
local function main()
  local paced = ARGV[5] == 'domain' and load_domain(ARGV[2]) or touch(ARGV[2])
  if ARGV[5] == 'domain' then stir(ARGV[2]) end
  paced.delay = tonumber(ARGV[3]) or rawget(paced, 'delay')
  paced.concurrency = tonumber(ARGV[4]) or rawget(paced, 'concurrency')
  local hosts_delay = tonumber(ARGV[6] or '')
  if hosts_delay then paced.hosts_delay = hosts_delay > 0 and hosts_delay or nil end
  return 1
end
