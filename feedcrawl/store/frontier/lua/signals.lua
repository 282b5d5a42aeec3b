-- The twin of tests/site/host_circuit.py `step`, for hosts and scopes; returns the pause before the next request in ms.
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

-- The twins of tests/site/host_circuit.py `widened` and `together`: applies a host's signal to a scope of it. `fresh` is false if
-- the host's failures have been counted at its scopes since it last answered. Returns true if this failure is counted.
local function signal_scope(scope, signal, fresh, now)
  local alive = signal == 'ok' or signal == 'answered'
  local blames = signal == 'site' and scope.state == 'closed' and fresh
  if not (alive or blames or scope.state == 'half_open') then return false end
  if blames then
    if now - scope.failed_at > scope.together and scope.failures > 0 then scope.failures = 0 end
    scope.failed_at = now
  end
  local was = scope.state
  local pause = step_circuit(scope, signal, 0, scope.threshold)
  if pause > 0 then scope.next_at = math.max(scope.next_at, now + pause) end
  if was ~= 'closed' and scope.state == 'closed' then
    scope.next_at = math.min(scope.next_at, now + scope.delay)
  end
  return blames
end

-- Applies a host's signal to all its scopes; returns [name, state of its circuit before, after]… of those that changed.
local function signal_scopes(name, host, signal, now)
  local fresh, changes, its = host.blamed == 0, {}, scopes_of(name)
  for i = 1, #its do
    local scope = its[i]
    local before = scope.state
    if signal_scope(scope, signal, fresh, now) then host.blamed = 1 end
    stir(scope)
    if scope.state ~= before then changes[#changes + 1] = {scope.mark .. scope.key, before, scope.state} end
  end
  return changes
end

local RECALLED = 16 -- polls per response; the response of each recalled poll recalls as many more

-- Polls that back off because their host fails, by the time at which they would be due without the failures (done.lua).
local function away_key(name) return P .. 'away:' .. name end

-- The host has answered: its polls become due as they would have been without the failures.
local function recall(name, host, now)
  local popped, earlier = redis.call('ZPOPMIN', away_key(name), RECALLED), {}
  if #popped < 2 * RECALLED then host.away = 0 end
  for i = 1, #popped, 2 do
    earlier[i], earlier[i + 1] = string.format('%.0f', math.max(now, popped[i + 1])), popped[i]
  end
  if #earlier > 0 then redis.call('ZADD', P .. 'delayed:poll', 'XX', 'LT', unpack(earlier)) end
end

-- Applies the signal of a response to the host and its scopes. Signals: ok (2xx, 3xx), answered (4xx), site, soft,
-- throttled, none. `wait` is Retry-After in milliseconds. Returns the states of the host's circuit before and after, then
-- the changes of its scopes' circuits.
local function signal_host(name, signal, wait, now)
  local host, changes = touch(name), NONE
  local before = host.state
  local pause = step_circuit(host, signal, wait or 0, POLICY.circuit_failures)
  pause = math.max(pause, step_pace(host, signal, wait or 0))
  if signal ~= 'none' then changes = signal_scopes(name, host, signal, now) end
  if signal == 'ok' or signal == 'answered' then
    host.ok_at = now
    if host.blamed > 0 then host.blamed = 0 end
    if host.away > 0 then recall(name, host, now) end
  end
  if pause > 0 then host.next_at = math.max(host.next_at, now + math.min(pause, 24 * HOUR)) end
  return before, host.state, changes
end
