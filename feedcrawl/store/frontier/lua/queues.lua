-- Adds `by` to the number of a host's pending tasks. The host's record is read only if the number falls to 0.
local function hold(name, by)
  local host = hosts[name]
  if host then
    host.tasks = math.max(0, host.tasks + by)
    return
  end
  local number = redis.call('HINCRBY', host_key(name), 'tasks', by)
  if number < 1 then
    host_of(name).tasks = 0
    stored[name].tasks = -1 -- so that the record is written and gets its expiry
  end
end

-- Adds `by` to the counter of pending tasks and to the host's number of pending tasks.
local function count_task(task, by)
  count('pending', label(task), by)
  hold(task.host, by)
end

-- Stores with a host's first task the host's scopes: the values of their fields begin at `list[first]`, in the order of
-- SCOPES ('': the host has none of this kind).
local function place_in_scopes(name, list, first)
  for i = 1, #SCOPES do
    local kind, value, host = SCOPES[i], list[first + i - 1], hosts[name]
    if value ~= '' then
      if not host then redis.call('HSETNX', host_key(name), kind.field, value)
      elseif (host[kind.field] or 0) == 0 then
        host[kind.field], within[name] = tonumber(value) or value, nil
      end
    end
  end
end

-- Rank within a lane: the time at which a task became due, less one hour for each step of priority. The lowest goes first.
local function rank(priority, since) return since - priority * HOUR end

-- A member of the delayed set has all that `promote` needs without reading the record; the host's length marks where the id
-- begins.
local function delayed_member(task) return string.format('%d %d %s%s', task.priority, #task.host, task.host, task.id) end

local function delayed_parts(member)
  local priority, length, start = string.match(member, '^(%d+) (%d+) ()')
  return tonumber(priority), string.sub(member, start, start + length - 1), string.sub(member, start + length)
end

local function enqueue(task, now, delay)
  local lane = lane_of(task)
  if not COMMON[lane] then redis.call('SADD', P .. 'lanes', lane) end
  if delay > 0 then
    redis.call('ZADD', P .. 'delayed:' .. lane, now + delay, delayed_member(task))
  else
    redis.call('ZADD', queue_key(lane, task.host), rank(task.priority, now), task.id)
    touch(task.host, lane)
  end
end

-- Removes a task from its queue; returns the time at which it became or becomes due, and true if it was delayed.
local function dequeue(task)
  local lane = lane_of(task)
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
