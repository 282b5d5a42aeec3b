-- Transfers a claim (KEYS[1]) from one task (ARGV[1]) to another (ARGV[2]) for ARGV[3] seconds; 0 if a third task has it.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
return 1
