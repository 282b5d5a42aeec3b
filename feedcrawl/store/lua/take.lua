-- take: ARGV = clock, wanted, worker's nonce, lanes… -> [[lease…], ms until more may be due, hosts blocked, what was given up]
local now = clock()
local wanted, nonce = tonumber(ARGV[2]), ARGV[3]
local lanes = {}
for i = 4, #ARGV do lanes[#lanes + 1] = ARGV[i] end
local given_up = {}

-- Leases of workers that died: the host's slot is freed, the attempt counts.
local expired = redis.call('ZRANGEBYSCORE', P .. 'leases', '-inf', now, 'LIMIT', 0, 16)
for _, id in ipairs(expired) do
  local holder, task = holder_of(id), load_task(id)
  if holder then
    drop_lease(id, holder, now)
  else
    redis.call('ZREM', P .. 'leases', id)
  end
  if task and pending(task) then
    task.attempts = (task.attempts or 0) + 1
    if task.attempts >= POLICY.max_attempts then
      given_up[#given_up + 1] = {id, give_up(task, 'lease_expired', now), 'lease_expired'}
    else
      save_task(task)
      enqueue(task, now, 0)
    end
  end
end

for _, lane in ipairs(lanes) do
  local due = redis.call('ZRANGEBYSCORE', P .. 'delayed:' .. lane, '-inf', now, 'LIMIT', 0, 4 * wanted + 16)
  local hosts = {}
  for _, member in ipairs(due) do
    local priority, host, id = string.match(member, '^(%d+) (%S+) (.*)$')
    local since = redis.call('ZSCORE', P .. 'delayed:' .. lane, member)
    redis.call('ZADD', queue_key(lane, host), tonumber(since) - tonumber(priority) * HOUR, id)
    hosts[host] = true
  end
  if #due > 0 then redis.call('ZREM', P .. 'delayed:' .. lane, unpack(due)) end
  for _, host in ipairs(redis.call('ZRANGEBYSCORE', P .. 'waiting:' .. lane, '-inf', now, 'LIMIT', 0, 2 * wanted + 16)) do
    hosts[host] = true
  end
  for host in pairs(hosts) do settle(host, now) end
end

-- Polls before articles of equally ready hosts, by 22 hours of waiting: an article that waits longer still gets by.
local POLL_LEAD = 22 * HOUR
local function best_host()
  local lane, host, score
  for _, candidate in ipairs(lanes) do
    local head = redis.call('ZRANGE', P .. 'ready:' .. candidate, 0, 0, 'WITHSCORES')
    if head[1] then
      local s = tonumber(head[2]) - (candidate == 'poll' and POLL_LEAD or 0)
      if not score or s < score then lane, host, score = candidate, head[1], s end
    end
  end
  return lane, host
end

local function lease(lane, host)
  local id = redis.call('ZPOPMIN', queue_key(lane, host))[1]
  local text = id and redis.call('GET', task_key(id))
  if not text then settle(host, now) return nil end
  local key = host_key(host)
  local state = redis.call('HGET', key, 'state')
  local probe = state == 'open' or state == 'half_open' -- half-open with no slot taken: its probe never came back
  if probe then redis.call('HSET', key, 'state', 'half_open') end
  reserve(host, now)
  redis.call('HINCRBY', key, 'busy', 1)
  redis.call('PERSIST', key)
  local number = redis.call('INCR', P .. 'token')
  local token = number .. '-' .. nonce
  redis.call('HSET', P .. 'holders', id, token .. ' 1 ' .. host)
  redis.call('ZADD', P .. 'leases', now + POLICY.lease, id)
  settle(host, now)
  return {text, token, probe and 1 or 0}
end

local leases = {}
for _ = 1, 4 * wanted do
  if #leases >= wanted then break end
  local lane, host = best_host()
  if not host then break end
  leases[#leases + 1] = lease(lane, host)
end

local soonest, blocked = nil, 0
for _, lane in ipairs(lanes) do
  if redis.call('ZCARD', P .. 'ready:' .. lane) > 0 then soonest = now end
  for _, set in ipairs({'waiting:', 'delayed:'}) do
    local head = redis.call('ZRANGE', P .. set .. lane, 0, 0, 'WITHSCORES')
    if head[1] and (not soonest or tonumber(head[2]) < soonest) then soonest = tonumber(head[2]) end
  end
  blocked = blocked + redis.call('ZCARD', P .. 'blocked:' .. lane)
end
return {leases, soonest and math.max(0, soonest - now) or -1, blocked, given_up}
