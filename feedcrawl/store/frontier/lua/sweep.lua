-- sweep: ARGV = clock, id… -> [id, state]… of those that have no future here, or had none until now
--   absent    nothing is known of it, or it went to another shard
--   ended     its record says that it is over
--   stray     it waited nowhere: it is due now
--   twice     it waited in two places: the later one is gone
--   unleased  a worker held it under no lease: it is as if that had just run out

-- Whether a host that has tasks stands where the next `take` finds it.
local function stands(name, lane)
  local place, _, domain = host_of(name)[lane], domain_of(name)
  return place and place ~= '' and redis.call('ZSCORE', place_key(place, lane, domain), name)
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
