-- take: ARGV = clock, wanted, worker's nonce, lanes… -> [[lease…], ms until more may be due, hosts blocked, what was given up]
local wanted, nonce = tonumber(ARGV[2]), ARGV[3]
local lanes = {unpack(ARGV, 4)}
local RECLAIMED = 16 -- leases per call: keeps the longest script short

-- Leases of workers that died: the host's slot is freed, the attempt counts.
local function reclaim(now)
  local given_up = {}
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'leases', '-inf', now, 'LIMIT', 0, RECLAIMED)) do
    drop_lease(id, holder_of(id) or {}, now)
    local task = load_task(id)
    if task and pending(task) then
      if not renew(task) then task.attempts = (task.attempts or 0) + 1 end
      if (task.attempts or 0) >= POLICY.max_attempts then
        given_up[#given_up + 1] = {id, give_up(task, 'lease_expired', now), 'lease_expired'}
      else
        save_task(task)
        enqueue(task, now, 0)
      end
    end
  end
  return given_up
end

-- Tasks and hosts whose time has come.
local function promote(lane, now)
  local due = redis.call('ZRANGEBYSCORE', P .. 'delayed:' .. lane, '-inf', now, 'WITHSCORES', 'LIMIT', 0, 4 * wanted + 16)
  for i = 1, #due, 2 do
    local priority, host, id = delayed_parts(due[i])
    redis.call('ZADD', queue_key(lane, host), rank(priority, due[i + 1]), id)
    touch(host, lane)
  end
  if #due > 0 then redis.call('ZREMRANGEBYRANK', P .. 'delayed:' .. lane, 0, #due / 2 - 1) end
  for _, host in ipairs(redis.call('ZRANGEBYSCORE', P .. 'waiting:' .. lane, '-inf', now, 'LIMIT', 0, 2 * wanted + 16)) do
    touch(host)[lane] = 'waiting'
  end
end

-- The best ready host of each lane, as [name, rank]; read again once it has been asked.
local heads = {}
local function head_of(lane)
  heads[lane] = heads[lane] or redis.call('ZRANGE', P .. 'ready:' .. lane, 0, 0, 'WITHSCORES')
  return heads[lane]
end

-- Polls before articles of equally ready hosts, by 22 hours of waiting: an article that waits longer still gets by.
local POLL_LEAD = 22 * HOUR
local function best_host()
  local lane, host, score
  for _, candidate in ipairs(lanes) do
    local head = head_of(candidate)
    if head[1] then
      local s = tonumber(head[2]) - (candidate == 'poll' and POLL_LEAD or 0)
      if not score or s < score then lane, host, score = candidate, head[1], s end
    end
  end
  return lane, host
end

-- A host's best task with its record, nil where the record is gone; and whether the host must be tried first.
local function pop(lane, name, now)
  local id = redis.call('ZPOPMIN', queue_key(lane, name))[1]
  local text = id and redis.call('GET', task_key(id))
  local host = touch(name, lane)
  host[lane] = 'ready'
  local probe = host.state ~= 'closed' -- half-open with no slot taken: its probe never came back
  if text then
    if probe then host.state = 'half_open' end
    reserve(host, now)
    host.busy = host.busy + 1
  end
  settle(name, now)
  for other, head in pairs(heads) do
    if head[1] == name then heads[other] = nil end
  end
  return text and id, text, probe
end

local function take(now)
  local leases, ids = {}, {}
  for _ = 1, 4 * wanted do
    local lane, host = best_host()
    if #leases >= wanted or not host then break end
    local id, text, probe = pop(lane, host, now)
    if id then
      ids[#ids + 1] = {id, host}
      leases[#leases + 1] = {text, '', probe and 1 or 0}
    end
  end
  if #leases == 0 then return leases end
  local number, holders, expiries = redis.call('INCRBY', P .. 'token', #leases), {}, {}
  for i, lease in ipairs(leases) do
    lease[2] = string.format('%.0f-%s', number - i, nonce)
    holders[2 * i - 1], holders[2 * i] = ids[i][1], lease[2] .. ' 1 ' .. ids[i][2]
    expiries[2 * i - 1], expiries[2 * i] = now + POLICY.lease, ids[i][1]
  end
  redis.call('HSET', P .. 'holders', unpack(holders))
  redis.call('ZADD', P .. 'leases', unpack(expiries))
  return leases
end

-- When there may be more for these lanes, and how many of their hosts are blocked.
local function outlook(now)
  local soonest, blocked = nil, 0
  for _, lane in ipairs(lanes) do
    if head_of(lane)[1] then soonest = now end
    for _, set in ipairs({'waiting:', 'delayed:'}) do
      local head = redis.call('ZRANGE', P .. set .. lane, 0, 0, 'WITHSCORES')
      if head[1] and (not soonest or tonumber(head[2]) < soonest) then soonest = tonumber(head[2]) end
    end
    blocked = blocked + redis.call('ZCARD', P .. 'blocked:' .. lane)
  end
  return soonest and math.max(0, soonest - now) or -1, blocked
end

local function main(now)
  local given_up = reclaim(now)
  for _, lane in ipairs(lanes) do promote(lane, now) end
  for name in pairs(touched) do settle(name, now) end
  local leases = take(now)
  local wait, blocked = outlook(now)
  return {leases, wait, blocked, given_up}
end
