-- sweep: ARGV = clock, id… -> [id, state]… of the tasks that have no future here, or had none until now
--   absent    the task is unknown, or has moved to another shard
--   ended     the task's record is that of an ended task
--   stray     the task was in no queue: it is enqueued and due now
--   twice     the task was in two queues: it is removed from the delayed set
--   unleased  the task had a holder and no lease: it gets a lease that expires now

-- True if the next `take` can find the host: it is in the set that its record names.
local function stands(name, lane)
  local place = host_of(name)[lane]
  return place and place ~= '' and redis.call('ZSCORE', place_key(place, lane, scopes_of(name)), name)
end

local function waiting(task, now)
  local lane, state = lane_of(task), nil
  local delayed = redis.call('ZSCORE', P .. 'delayed:' .. lane, delayed_member(task))
  local queued = redis.call('ZSCORE', queue_key(lane, task.host), task.id)
  if delayed and not queued then return nil end
  if delayed then
    redis.call('ZREM', P .. 'delayed:' .. lane, delayed_member(task))
    state = 'twice'
  end
  if not queued then
    enqueue(task, now, 0)
  elseif stands(task.host, lane) then
    return state
  else
    touch(task.host, lane)[lane] = ''
  end
  return state or 'stray'
end

local function state_of(id, now)
  local task = load_task(id)
  if not task or task.status == 'moved' then return 'absent' end
  if not pending(task) then return 'ended' end
  if not holder_of(id) then return waiting(task, now) end
  if redis.call('ZSCORE', P .. 'leases', id) then return nil end
  redis.call('ZADD', P .. 'leases', now, id)
  return 'unleased'
end

local function main(now)
  local found = {}
  for i = 2, #ARGV do
    local state = state_of(ARGV[i], now)
    if state then found[#found + 1] = {ARGV[i], state} end
  end
  return found
end
