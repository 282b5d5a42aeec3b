-- release: ARGV = clock, id, token, signal, wait ms (Retry-After, '' where none)
--   -> [circuit before, circuit after, ms until the host's next turn]
local now = clock()
local id, token = ARGV[2], ARGV[3]
local holder = held(id, token)
if not holder then return {'lost', 'lost', 0} end
local before, after = signal_host(holder.host, ARGV[4], tonumber(ARGV[5]), now)
redis.call('HSET', P .. 'holders', id, token .. ' 0 ' .. holder.host)
if holder.slot then free_slot(id, holder, now) else settle(holder.host, now) end
return {before, after, math.max(0, tonumber(redis.call('HGET', host_key(holder.host), 'next_at') or 0) - now)}
