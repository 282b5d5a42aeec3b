-- Shared by all scripts of the frontier; prepended to each, after `local POLICY = {…}` (store/frontier.py).
-- KEYS[1] is the shard's prefix, ARGV[1] the clock ('' = TIME).
-- One script touches one shard's keys only, so that a cluster can spread shards (docs/decisions/0002-frontier.md).
local P = KEYS[1]
local LANES = {'poll', 'page'}
local HOUR = 3600000

-- Milliseconds that never run backwards: where the server's clock was stepped back, the difference is added from then on.
local function clock()
  local raw = tonumber(ARGV[1])
  if not raw then
    local t = redis.call('TIME')
    raw = t[1] * 1000 + math.floor(t[2] / 1000)
  end
  local last, offset = string.match(redis.call('GET', P .. 'clock') or '0 0', '^(%d+) (%d+)$')
  last, offset = tonumber(last), tonumber(offset)
  if raw + offset < last then offset = last - raw end
  local now = raw + offset
  redis.call('SET', P .. 'clock', string.format('%.0f %.0f', now, offset))
  return now
end

local function lane_of(kind)
  if kind == 'article' or kind == 'page' then return 'page' end
  return 'poll'
end

local function task_key(id) return P .. 't:' .. id end
local function queue_key(lane, host) return P .. 'q:' .. lane .. ':' .. host end
local function host_key(host) return P .. 'h:' .. host end

local function load_task(id)
  local text = redis.call('GET', task_key(id))
  return text and cjson.decode(text) or nil
end

local function save_task(task) redis.call('SET', task_key(task.id), cjson.encode(task)) end

local function count(what, kind, by) redis.call('HINCRBY', P .. 'counts', what .. ':' .. kind, by) end

-- A host is in one of ready, waiting, blocked per lane in which it has tasks, and in none otherwise.
local function settle(host, now)
  local h = redis.call('HMGET', host_key(host), 'next_at', 'busy', 'concurrency', 'state')
  local next_at, busy, allowed = tonumber(h[1] or 0), tonumber(h[2] or 0), tonumber(h[3] or POLICY.concurrency)
  if h[4] and h[4] ~= 'closed' then allowed = 1 end -- one probe at a time
  for _, lane in ipairs(LANES) do
    local best = redis.call('ZRANGE', queue_key(lane, host), 0, 0, 'WITHSCORES')
    local place, score = nil, nil
    if best[1] then
      if busy >= allowed then place, score = 'blocked', now
      elseif next_at > now then place, score = 'waiting', next_at
      else place, score = 'ready', best[2] end
    end
    for _, set in ipairs({'ready', 'waiting', 'blocked'}) do
      if set == place then redis.call('ZADD', P .. set .. ':' .. lane, score, host)
      else redis.call('ZREM', P .. set .. ':' .. lane, host) end
    end
  end
end

-- Rank within a lane: who became due first, each step of priority worth an hour of waiting. Lower goes first.
local function rank(task, since) return since - task.priority * HOUR end

local function delayed_member(task) return string.format('%d %s %s', task.priority, task.host, task.id) end

local function enqueue(task, now, delay)
  local lane = lane_of(task.kind)
  if delay > 0 then
    redis.call('ZADD', P .. 'delayed:' .. lane, now + delay, delayed_member(task))
  else
    redis.call('ZADD', queue_key(lane, task.host), rank(task, now), task.id)
    settle(task.host, now)
  end
end

local function dequeue(task, now)
  local lane = lane_of(task.kind)
  redis.call('ZREM', P .. 'delayed:' .. lane, delayed_member(task))
  if redis.call('ZREM', queue_key(lane, task.host), task.id) == 1 then settle(task.host, now) end
end

-- The twin of domain/pacing.py `effective_delay`.
local function delay_of(host)
  local h = redis.call('HMGET', host_key(host), 'delay', 'doublings')
  local delay = tonumber(h[1] or POLICY.delay)
  return math.min(delay * 2 ^ tonumber(h[2] or 0), math.max(delay, 120000))
end

-- The twin of domain/pacing.py `reserve`: when this host may next be asked, given a turn that is taken now.
local function reserve(host, now)
  local next_at = tonumber(redis.call('HGET', host_key(host), 'next_at') or 0)
  local at = math.max(now, next_at)
  redis.call('HSET', host_key(host), 'next_at', string.format('%.0f', at + delay_of(host)))
  return at
end

local function holder_of(id)
  local value = redis.call('HGET', P .. 'holders', id)
  if not value then return nil end
  local token, slot, host = string.match(value, '^(%S+) (%d) (.*)$')
  return {token = token, slot = slot == '1', host = host}
end

local function held(id, token)
  local holder = holder_of(id)
  if holder and holder.token == token then return holder end
  return nil
end

-- Frees the host's slot once; with one connection per host the delay runs from the end of the answer.
local function free_slot(id, holder, now)
  if not holder.slot then return end
  holder.slot = false
  local key = host_key(holder.host)
  local h = redis.call('HMGET', key, 'busy', 'concurrency', 'next_at')
  local busy = math.max(0, tonumber(h[1] or 0) - 1)
  redis.call('HSET', key, 'busy', busy)
  if tonumber(h[2] or POLICY.concurrency) == 1 then
    local at = math.max(tonumber(h[3] or 0), now + delay_of(holder.host))
    redis.call('HSET', key, 'next_at', string.format('%.0f', at))
  end
  if busy == 0 then redis.call('PEXPIRE', key, POLICY.host_ttl) end
  settle(holder.host, now)
end

-- What an answer says of its host: the twins of domain/circuit.py `step` and domain/pacing.py `throttled`, `answered`,
-- `pause_ms` and `hold`. Signals: ok (2xx, 3xx), answered (4xx), site, soft, throttled, none. `wait` is Retry-After.
local function signal_host(host, signal, wait, now)
  local key = host_key(host)
  local h = redis.call('HMGET', key, 'state', 'failures', 'opened', 'doublings', 'good', 'refusals')
  local state, failures, opened = h[1] or 'closed', tonumber(h[2] or 0), tonumber(h[3] or 0)
  local doublings, good, refusals = tonumber(h[4] or 0), tonumber(h[5] or 0), tonumber(h[6] or 0)
  local before, pause = state, wait or 0
  local failed = signal == 'site' or signal == 'soft'

  if signal == 'ok' or signal == 'answered' or (state == 'half_open' and (signal == 'soft' or signal == 'throttled')) then
    state, failures, opened = 'closed', 0, 0
  elseif (state == 'closed' and failed and failures + 1 >= POLICY.circuit_failures) or (state == 'half_open' and signal == 'site') then
    opened = opened + 1
    state, failures = 'open', failures + 1
    pause = math.max(pause, POLICY.circuit_waits[math.min(opened, #POLICY.circuit_waits)])
  elseif state == 'closed' and failed then
    failures = failures + 1
  end

  if signal == 'throttled' then
    if not wait or wait <= 0 then pause = math.max(pause, math.min(30000 * 2 ^ math.min(refusals, 7), HOUR)) end
    doublings, good, refusals = math.min(doublings + 1, 7), 0, refusals + 1
  elseif signal == 'ok' then
    refusals = 0
    if doublings > 0 then
      good = good + 1
      if good >= 10 then doublings, good = doublings - 1, 0 end
    end
  end

  if state == 'closed' and failures == 0 and doublings == 0 and refusals == 0 then
    if h[1] then redis.call('HDEL', key, 'state', 'failures', 'opened', 'doublings', 'good', 'refusals') end
  else
    redis.call('HSET', key, 'state', state, 'failures', failures, 'opened', opened, 'doublings', doublings, 'good', good,
      'refusals', refusals)
  end
  if signal == 'ok' or signal == 'answered' then redis.call('HSET', key, 'ok_at', string.format('%.0f', now)) end
  if pause > 0 then
    local next_at = tonumber(redis.call('HGET', key, 'next_at') or 0)
    redis.call('HSET', key, 'next_at', string.format('%.0f', math.max(next_at, now + math.min(pause, 24 * HOUR))))
  end
  return before, state
end

local function drop_lease(id, holder, now)
  free_slot(id, holder, now)
  redis.call('HDEL', P .. 'holders', id)
  redis.call('ZREM', P .. 'leases', id)
end

local function merge(task, patch)
  for name, value in pairs(patch) do
    if value == cjson.null then task[name] = nil else task[name] = value end
  end
end

-- A pending task's record has no status: what is stored a million times says as little as it can.
local function pending(task) return task.status == nil end

-- Ends a task: what stays is the record of its URL, for as long as it must not be asked again.
local function finish(task, status, reason, now)
  task.status, task.reason, task.updated_at, task.attempts = status, reason, now, nil
  task.payload, task.site_failures, task.site_failed_at, task.quarantined, task.again = nil, nil, nil, nil, nil
  redis.call('SET', task_key(task.id), cjson.encode(task), 'PX', POLICY.remember)
  count('pending', task.kind, -1)
  count(status, task.kind, 1)
end

local function dead_letter(task, reason, now, status)
  local letter = {url = task.url, uid = task.id, kind = task.kind, reason = reason, status = status, at = now / 1000,
    attempts = task.attempts or 0, category = task.category, priority = task.priority, source = task.source}
  redis.call('RPUSH', P .. 'dlq', cjson.encode(letter))
end

local QUARANTINED = {feed = true, sitemap = true, websub = true}

-- Gives up a task after its attempts: URLs die with a dead letter, feeds and their like come back rarely.
local function give_up(task, reason, now, status)
  if QUARANTINED[task.kind] then
    task.quarantined = (task.quarantined or 0) + 1
    task.attempts, task.reason, task.updated_at = nil, reason, now
    save_task(task)
    enqueue(task, now, math.min(24 * HOUR, HOUR * 2 ^ (task.quarantined - 1)))
    return 'quarantined'
  end
  dead_letter(task, reason, now, status)
  finish(task, 'dead', reason, now)
  return 'dead'
end
