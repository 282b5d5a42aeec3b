-- release: ARGV = clock, id, token, signal, wait ms (Retry-After, '' where none) -> [state before, state after, ms until the host's next turn]
-- The twin of domain/circuit.py `step` and domain/pacing.py `throttle` and `recover`.
local now = clock()
local id, token, signal, wait = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local holder = held(id, token)
if not holder then return {'lost', 'lost', 0} end
local key = host_key(holder.host)
local h = redis.call('HMGET', key, 'state', 'failures', 'opened', 'factor', 'good', 'throttled')
local state, failures, opened = h[1] or 'closed', tonumber(h[2] or 0), tonumber(h[3] or 0)
local factor, good, throttled = tonumber(h[4] or 1), tonumber(h[5] or 0), tonumber(h[6] or 0)
local before, hold = state, 0

local function open()
  state, opened, failures = 'open', opened + 1, failures
  local waits = POLICY.circuit_waits
  hold = waits[math.min(opened, #waits)]
end

if signal == 'site' or signal == 'soft' then
  failures = failures + 1
  if state == 'half_open' and signal == 'site' then open()
  elseif state == 'half_open' then state, failures, opened = 'closed', 1, 0
  elseif state == 'closed' and failures >= POLICY.circuit_failures then open() end
elseif signal == 'ok' or signal == 'throttled' then
  if signal == 'ok' then failures = 0 end
  if state ~= 'closed' then state, failures, opened = 'closed', 0, 0 end
end
if signal == 'throttled' then
  good, throttled = 0, throttled + 1
  factor = math.min(factor * 2, 1024)
  hold = math.max(hold, wait or math.min(30000 * 2 ^ (throttled - 1), HOUR))
elseif signal == 'ok' then
  throttled = 0
  redis.call('HSET', key, 'ok_at', string.format('%.0f', now))
  if factor > 1 then
    good = good + 1
    if good >= 10 then factor, good = factor / 2, 0 end
  end
  if wait then hold = math.max(hold, wait) end
elseif wait then
  hold = math.max(hold, wait)
end
redis.call('HSET', key, 'state', state, 'failures', failures, 'opened', opened, 'factor', factor, 'good', good,
  'throttled', throttled)
if hold > 0 then
  local next_at = tonumber(redis.call('HGET', key, 'next_at') or 0)
  redis.call('HSET', key, 'next_at', string.format('%.0f', math.max(next_at, now + hold)))
end
redis.call('HSET', P .. 'holders', id, token .. ' 0 ' .. holder.host)
if holder.slot then free_slot(id, holder, now) else settle(holder.host, now) end
return {before, state, math.max(0, tonumber(redis.call('HGET', key, 'next_at') or 0) - now)}
