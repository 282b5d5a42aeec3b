-- Replaces a subscription (KEYS[1]) with ARGV[2] and lists its feed (KEYS[2]); 0 if the subscription is no longer ARGV[1].
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('SADD', KEYS[2], ARGV[3])
return 1
