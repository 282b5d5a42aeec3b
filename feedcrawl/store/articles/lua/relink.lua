-- Replaces what an article's HASH (KEYS[1]) says of its files; 0 if that is no longer ARGV[1].
if redis.call('HGET', KEYS[1], 'files') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'files', ARGV[2])
return 1
