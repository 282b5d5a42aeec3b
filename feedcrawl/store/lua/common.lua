-- Shared by all scripts of the frontier: comes after `local POLICY = {…}` and before a script's `main(now)`, which
-- run.lua calls (store/frontier.py). KEYS[1] is the shard's prefix, ARGV[1] the clock ('' = TIME).
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
  local stored = redis.call('GET', P .. 'clock') or '0 0'
  local last, offset = string.match(stored, '^(%d+) (%d+)$')
  local now = math.max(raw + offset, tonumber(last))
  local current = string.format('%.0f %.0f', now, now - raw)
  if current ~= stored then redis.call('SET', P .. 'clock', current) end
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

-- Hosts: read once per script, changed as tables, and settled and written back at its end. `poll` and `page` name the
-- set in which a host stands for that lane, so that a move touches two sets and not six.
local DEFAULTS = {__index = {next_at = 0, busy = 0, delay = POLICY.delay, concurrency = POLICY.concurrency,
  state = 'closed', failures = 0, opened = 0, doublings = 0, good = 0, refusals = 0, ok_at = 0, poll = '', page = ''}}
local hosts, stored, touched = {}, {}, {}

local function host_of(name)
  if hosts[name] then return hosts[name] end
  local host, before = setmetatable({}, DEFAULTS), setmetatable({}, DEFAULTS)
  local fields = redis.call('HGETALL', host_key(name))
  for i = 1, #fields, 2 do
    local value = tonumber(fields[i + 1]) or fields[i + 1]
    host[fields[i]], before[fields[i]] = value, value
  end
  hosts[name], stored[name] = host, before
  return host
end

-- The host, which is about to change; `lane` if its queue of that lane does.
local function touch(name, lane)
  touched[name] = touched[name] or {}
  if lane then touched[name][lane] = true end
  return host_of(name)
end

-- Puts a host where its next task is found, per lane: `ready` by the best task's rank, `waiting` by the time of its
-- turn, `blocked` while someone reads an answer, or nowhere.
local function settle(name, now)
  local host, lanes = hosts[name], touched[name]
  touched[name] = nil
  local allowed = host.state == 'closed' and host.concurrency or 1 -- one probe at a time
  for _, lane in ipairs(LANES) do
    local old = host[lane]
    if old ~= '' or lanes[lane] then
      local best = redis.call('ZRANGE', queue_key(lane, name), 0, 0, 'WITHSCORES')
      local place, score = '', nil
      if best[1] then
        if host.busy >= allowed then place, score = 'blocked', now
        elseif host.next_at > now then place, score = 'waiting', host.next_at
        else place, score = 'ready', best[2] end
      end
      if old ~= place and old ~= '' then redis.call('ZREM', P .. old .. ':' .. lane, name) end
      if place ~= '' and not (old == place and place == 'blocked') then redis.call('ZADD', P .. place .. ':' .. lane, score, name) end
      host[lane] = place
    end
  end
end

local function idle(host) return host.busy == 0 and host.poll == '' and host.page == '' end

-- A host's record outlives its last task for as long as what it says of pace and circuit may matter.
local function save_host(name)
  local host, before, changes = hosts[name], stored[name], {}
  for field, value in pairs(host) do
    if rawget(before, field) ~= value then
      changes[#changes + 1] = field
      changes[#changes + 1] = value
    end
  end
  if #changes == 0 then return end
  redis.call('HSET', host_key(name), unpack(changes))
  if idle(host) then redis.call('PEXPIRE', host_key(name), POLICY.host_ttl)
  elseif idle(before) and next(before) then redis.call('PERSIST', host_key(name)) end
end

-- Rank within a lane: who became due first, each step of priority worth an hour of waiting. Lower goes first.
local function rank(priority, since) return since - priority * HOUR end

-- What promotion must know without reading the record; the host's length tells where the id begins.
local function delayed_member(task) return string.format('%d %d %s%s', task.priority, #task.host, task.host, task.id) end

local function delayed_parts(member)
  local priority, length, start = string.match(member, '^(%d+) (%d+) ()')
  return tonumber(priority), string.sub(member, start, start + length - 1), string.sub(member, start + length)
end

local function enqueue(task, now, delay)
  local lane = lane_of(task.kind)
  if delay > 0 then
    redis.call('ZADD', P .. 'delayed:' .. lane, now + delay, delayed_member(task))
  else
    redis.call('ZADD', queue_key(lane, task.host), rank(task.priority, now), task.id)
    touch(task.host, lane)
  end
end

-- Since when the task waits: the score that it had, and whether it was delayed.
local function dequeue(task)
  local lane = lane_of(task.kind)
  local due = redis.call('ZSCORE', P .. 'delayed:' .. lane, delayed_member(task))
  if due then
    redis.call('ZREM', P .. 'delayed:' .. lane, delayed_member(task))
    return tonumber(due), true
  end
  local score = redis.call('ZSCORE', queue_key(lane, task.host), task.id)
  redis.call('ZREM', queue_key(lane, task.host), task.id)
  touch(task.host, lane)
  return score and tonumber(score) + task.priority * HOUR, false
end

-- The twin of domain/pacing.py `effective_delay`.
local function delay_of(host) return math.min(host.delay * 2 ^ host.doublings, math.max(host.delay, 120000)) end

-- The twin of domain/pacing.py `reserve`: when this host may next be asked, given a turn that is taken now.
local function reserve(host, now)
  local at = math.max(now, host.next_at)
  host.next_at = at + delay_of(host)
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
local function free_slot(holder, now)
  if not holder.slot then return end
  local host = touch(holder.host)
  host.busy = math.max(0, host.busy - 1)
  if host.concurrency == 1 then host.next_at = math.max(host.next_at, now + delay_of(host)) end
end

-- The twin of domain/circuit.py `step`; answers how long the host must be left alone.
local function step_circuit(host, signal, wait)
  local failed = signal == 'site' or signal == 'soft'
  local alive = signal == 'ok' or signal == 'answered'
  if alive or (host.state == 'half_open' and (signal == 'soft' or signal == 'throttled')) then
    if host.failures > 0 or host.state ~= 'closed' then host.state, host.failures, host.opened = 'closed', 0, 0 end
  elseif (host.state == 'closed' and failed and host.failures + 1 >= POLICY.circuit_failures)
    or (host.state == 'half_open' and signal == 'site') then
    host.state, host.failures, host.opened = 'open', host.failures + 1, host.opened + 1
    return math.max(wait, POLICY.circuit_waits[math.min(host.opened, #POLICY.circuit_waits)])
  elseif host.state == 'closed' and failed then
    host.failures = host.failures + 1
  end
  return wait
end

-- The twins of domain/pacing.py `throttled`, `answered` and `pause_ms`; answers how long the host must be left alone.
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

-- What an answer says of its host. Signals: ok (2xx, 3xx), answered (4xx), site, soft, throttled, none. `wait` is
-- Retry-After, in milliseconds.
local function signal_host(name, signal, wait, now)
  local host = touch(name)
  local before = host.state
  local pause = math.max(step_circuit(host, signal, wait or 0), step_pace(host, signal, wait or 0))
  if signal == 'ok' or signal == 'answered' then host.ok_at = now end
  if pause > 0 then host.next_at = math.max(host.next_at, now + math.min(pause, 24 * HOUR)) end
  return before, host.state
end

local function drop_lease(id, holder, now)
  free_slot(holder, now)
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

-- A task that was asked for again while a worker held it starts anew where it would have ended or counted.
local function renew(task)
  if not task.again_queued then return false end
  task.again, task.again_queued, task.attempts = task.again_queued, nil, nil
  task.quarantined, task.site_failures, task.site_failed_at = nil, nil, nil
  return true
end

-- Ends a task: what stays is the record of its URL, for as long as it must not be asked again.
local function finish(task, status, reason, now)
  task.status, task.reason, task.updated_at, task.attempts = status, reason, now, nil
  task.payload, task.site_failures, task.site_failed_at, task.quarantined, task.again = nil, nil, nil, nil, nil
  redis.call('SET', task_key(task.id), cjson.encode(task), 'PX', POLICY.remember)
  count('pending', task.kind, -1)
  count(status, task.kind, 1)
end

-- What a task carries, as its dead letter keeps it: what the feed said of an article is in its entry too, and long.
local function carried(task)
  if task.kind ~= 'article' or #(task.payload or '') < 2048 then return task.payload end
  local payload = cjson.decode(task.payload)
  payload.content, payload.summary = nil, nil
  return cjson.encode(payload)
end

local function dead_letter(task, reason, now, status)
  local letter = {url = task.url, uid = task.id, kind = task.kind, reason = reason, status = status, at = now / 1000,
    attempts = task.attempts or 0, category = task.category, priority = task.priority, source = task.source,
    origin = task.origin, parent = task.parent, depth = task.depth, payload = carried(task)}
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
