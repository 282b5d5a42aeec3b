-- pace: ARGV = clock, host, delay ms ('' = leave), concurrency ('' = leave)
local function main()
  local host = touch(ARGV[2])
  host.delay = tonumber(ARGV[3]) or rawget(host, 'delay')
  host.concurrency = tonumber(ARGV[4]) or rawget(host, 'concurrency')
  return 1
end
