-- The twin of tests/site/host_circuit.py `step`, for hosts and domains; returns the pause before the next request in ms.
local function step_circuit(host, signal, wait, threshold)
  local failed = signal == 'site' or signal == 'soft'
  local alive = signal == 'ok' or signal == 'answered'
  if alive or (host.state == 'half_open' and (signal == 'soft' or signal == 'throttled')) then
    if host.failures > 0 or host.state ~= 'closed' then host.state, host.failures, host.opened = 'closed', 0, 0 end
  elseif (host.state == 'closed' and failed and host.failures + 1 >= threshold)
    or (host.state == 'half_open' and signal == 'site') then
    host.state, host.failures, host.opened = 'open', host.failures + 1, host.opened + 1
    return math.max(wait, POLICY.circuit_waits[math.min(host.opened, #POLICY.circuit_waits)])
  elseif host.state == 'closed' and failed then
    host.failures = host.failures + 1
  end
  return wait
end

-- The twins of tests/site/host_pace.py `throttled`, `answered` and `pause_ms`; returns the host's pause in ms.
local function step_pace(host, signal, wait)
  if signal == 'throttled' then
    if wait <= 0 then wait = math.min(30000 * 2 ^ math.min(host.refusals, 7), HOUR) end
    host.doublings, host.good, host.refusals = math.min(host.doublings + 1, 7), 0, host.refusals + 1
  elseif signal == 'ok' then
    if host.refusals > 0 then host.refusals = 0 end
    if host.doublings > 0 then
      host.good = host.good + 1
      if host.good >= 10 then host.doublings, host.good = host.doublings - 1, 0 end
    end
  end
  return wait
end

-- The twins of tests/site/host_circuit.py `widened` and `together`: applies a host's signal to its registered domain.
local function signal_domain(host, domain, signal, now)
  local alive = signal == 'ok' or signal == 'answered'
  local blames = signal == 'site' and domain.state == 'closed' and host.blamed == 0
  if not (alive or blames or domain.state == 'half_open') then return end
  if blames then
    if now - domain.failed_at > POLICY.together and domain.failures > 0 then domain.failures = 0 end
    host.blamed, domain.failed_at = 1, now
  end
  local was = domain.state
  local pause = step_circuit(domain, signal, 0, POLICY.domain_failures)
  if pause > 0 then domain.next_at = math.max(domain.next_at, now + pause) end
  if was ~= 'closed' and domain.state == 'closed' then
    domain.next_at = math.min(domain.next_at, now + domain.delay)
  end
end

-- Polls that back off because their host fails, by the time at which they would be due without the failures. A host that
-- fails one feed and answers others never has two failures in a row: such a poll's back-off concerns only its feed.
local AWAY = 10000
local RECALLED = 16 -- polls per response; the response of each recalled poll recalls as many more

local function away_key(name) return P .. 'away:' .. name end

local function note_away(name, task, recovered, now)
  local key, member = away_key(name), delayed_member(task)
  local host = recovered and host_of(name)
  if not recovered or host.state == 'closed' and host.failures < 2 or redis.call('ZCARD', key) >= AWAY then
    redis.call('ZREM', key, member)
    return
  end
  redis.call('ZADD', key, now + recovered, member)
  redis.call('PEXPIRE', key, POLICY.host_ttl)
  touch(name).away = 1
end

-- The host has answered: its polls become due as they would have been without the failures.
local function recall(name, host, now)
  local popped, earlier = redis.call('ZPOPMIN', away_key(name), RECALLED), {}
  if #popped < 2 * RECALLED then host.away = 0 end
  for i = 1, #popped, 2 do
    earlier[i], earlier[i + 1] = string.format('%.0f', math.max(now, popped[i + 1])), popped[i]
  end
  if #earlier > 0 then redis.call('ZADD', P .. 'delayed:poll', 'XX', 'LT', unpack(earlier)) end
end

-- Applies the signal of a response to the host and its domain. Signals: ok (2xx, 3xx), answered (4xx), site, soft,
-- throttled, none. `wait` is Retry-After in milliseconds. Returns the states of the host's circuit before and after, then
-- the domain's.
local function signal_host(name, signal, wait, now)
  local host, domain, its = touch(name), domain_of(name)
  local before, wider = host.state, domain and domain.state or 'closed'
  local pause = step_circuit(host, signal, wait or 0, POLICY.circuit_failures)
  pause = math.max(pause, step_pace(host, signal, wait or 0))
  if domain and signal ~= 'none' then
    signal_domain(host, domain, signal, now)
    stir(its)
  end
  if signal == 'ok' or signal == 'answered' then
    host.ok_at = now
    if host.blamed > 0 then host.blamed = 0 end
    if host.away > 0 then recall(name, host, now) end
  end
  if pause > 0 then host.next_at = math.max(host.next_at, now + math.min(pause, 24 * HOUR)) end
  return before, host.state, wider, domain and domain.state or 'closed'
end
