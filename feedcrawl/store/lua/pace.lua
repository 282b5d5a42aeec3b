-- pace: ARGV = clock, host, delay ms ('' = leave, '0' and above = set), concurrency ('' = leave)
local now = clock()
local key = host_key(ARGV[2])
if ARGV[3] ~= '' then redis.call('HSET', key, 'delay', ARGV[3]) end
if ARGV[4] ~= '' then redis.call('HSET', key, 'concurrency', ARGV[4]) end
settle(ARGV[2], now)
return 1
