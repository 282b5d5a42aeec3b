-- Replaces the field `files` of an article's HASH (KEYS[1]) with ARGV[2]; 0 if the field is no longer ARGV[1].
if redis.call('HGET', KEYS[1], 'files') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'files', ARGV[2])
return 1
