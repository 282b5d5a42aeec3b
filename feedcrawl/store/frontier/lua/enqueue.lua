-- push: ARGV = clock, then for each task: id, parts of its record before and after the time of discovery, lane, host,
--   priority, delay ms, again, label, the host's scopes -> [result…]
--   `label` is the field of the counters.
local SCOPES_AT = 9 -- place of the first scope among the parts of a task
local PARTS = SCOPES_AT + #SCOPES

local function welcome(new)
  count('pending', new.label, 1)
  if new.delay <= 0 then touch(new.host) end
  hold(new.host, 1)
  place_in_scopes(new.host, ARGV, new.scopes_at)
end

local function record_of(new) return unpacked(new.front .. new.rest, new.id) end

local function add(new, now)
  redis.call('SET', task_key(new.id), string.format('%s%.0f%s', new.front, now, new.rest))
  welcome(new)
  enqueue(new, now, new.delay)
  return 'queued'
end

-- Enqueues an ended task again, with its stored validators and times.
local function revive(old, new, now)
  local task = record_of(new)
  for _, name in ipairs({'etag', 'last_modified', 'content_hash', 'fetch_count', 'last_fetched_at', 'discovered_at'}) do
    task[name] = old[name]
  end
  task.again = new.again
  save_task(task)
  welcome(new)
  enqueue(task, now, new.delay)
  return 'again'
end

-- Updates a task that a worker holds: it is in no queue now.
local function note(old, new)
  if new.again == '' and new.priority <= old.priority then return 'leased' end
  old.priority = math.max(old.priority, new.priority)
  if new.again ~= '' then old.again_queued, old.payload = new.again, record_of(new).payload or old.payload end
  save_task(old)
  return new.again ~= '' and 'again' or 'leased'
end

local function hasten(old, new, now)
  dequeue(old)
  old.again, old.priority = new.again, math.max(old.priority, new.priority)
  old.payload = record_of(new).payload or old.payload
  save_task(old)
  enqueue(old, now, new.delay)
  return 'again'
end

-- Raises the priority of a pending task; the time since which it waits stays.
local function raise(old, new, now)
  if new.priority <= old.priority then return 'pending' end
  local since, delayed = dequeue(old)
  old.priority = new.priority
  save_task(old)
  local lane = lane_of(old)
  if delayed then redis.call('ZADD', P .. 'delayed:' .. lane, since, delayed_member(old))
  else redis.call('ZADD', queue_key(lane, old.host), rank(old.priority, since or now), old.id) end
  return 'raised'
end

local function push(new, now)
  local old = load_task(new.id)
  if not old then return add(new, now) end
  if not pending(old) then
    if new.again ~= '' and old.status == 'moved' then return 'moved' end
    return new.again == '' and 'known' or revive(old, new, now)
  end
  if redis.call('HEXISTS', P .. 'holders', new.id) == 1 then return note(old, new) end
  if new.again ~= '' then return hasten(old, new, now) end
  return raise(old, new, now)
end

-- Tasks of one millisecond are distinguished by the order in which they came: each counts as STEP later than the one before.
local STEP = 1 / 1024

local function main(now)
  local results = {}
  local at = tonumber(redis.call('GET', P .. 'pushed_at') or 0)
  for i = 2, #ARGV, PARTS do
    at = math.max(now, at + STEP)
    local new = {id = ARGV[i], front = ARGV[i + 1], rest = ARGV[i + 2], lane = ARGV[i + 3], host = ARGV[i + 4],
      priority = tonumber(ARGV[i + 5]), delay = tonumber(ARGV[i + 6]), again = ARGV[i + 7], label = ARGV[i + 8],
      scopes_at = i + SCOPES_AT}
    results[#results + 1] = push(new, new.delay > 0 and now or at)
  end
  redis.call('SET', P .. 'pushed_at', string.format('%.4f', at))
  return results
end
