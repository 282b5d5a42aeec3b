-- pace: ARGV = clock, host or registered domain, delay ms ('' = leave), concurrency ('' = leave), 'host' | 'domain'
local function main()
  local paced = ARGV[5] == 'domain' and load_domain(ARGV[2]) or touch(ARGV[2])
  if ARGV[5] == 'domain' then stir(ARGV[2]) end
  paced.delay = tonumber(ARGV[3]) or rawget(paced, 'delay')
  paced.concurrency = tonumber(ARGV[4]) or rawget(paced, 'concurrency')
  return 1
end
