-- take: ARGV = clock, limit, worker's nonce, lanes… -> [[lease…], ms until more may be due, hosts blocked, tasks given up]
local limit, nonce = tonumber(ARGV[2]), ARGV[3]
local lanes = {unpack(ARGV, 4)}
local RECLAIMED = 16 -- leases per call: keeps the longest script short
local HEADS = math.max(1, math.min(limit, 16))

-- Handles the task of an expired lease, whose worker has died. A task is given up after as many deaths as it has attempts.
-- From the second death on it is due ever later, and a worker holds only one such task (`may_hold`), so that the next death
-- shows which task caused it.
local function bury(task, now)
  if not renew(task) then task.deaths = (task.deaths or 0) + 1 end
  local deaths = task.deaths or 0
  if deaths >= POLICY.max_attempts then return give_up(task, 'lease_expired', now) end
  save_task(task)
  enqueue(task, now, deaths > 1 and POLICY.lease * 8 ^ (deaths - 2) or 0)
  return nil
end

local function reclaim(now)
  local given_up = {}
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'leases', '-inf', now, 'LIMIT', 0, RECLAIMED)) do
    drop_lease(id, holder_of(id) or {}, now)
    local task = load_task(id)
    local outcome = task and pending(task) and bury(task, now)
    if outcome then given_up[#given_up + 1] = {id, outcome, 'lease_expired'} end
  end
  return given_up
end

-- Moves delayed tasks that are due into their queues, and marks waiting hosts whose turn has come.
local function promote(lane, now)
  local due = redis.call('ZRANGEBYSCORE', P .. 'delayed:' .. lane, '-inf', now, 'WITHSCORES', 'LIMIT', 0, 4 * limit + 16)
  for i = 1, #due, 2 do
    local priority, host, id = delayed_parts(due[i])
    redis.call('ZADD', queue_key(lane, host), rank(priority, due[i + 1]), id)
    touch(host, lane)
  end
  if #due > 0 then redis.call('ZREMRANGEBYRANK', P .. 'delayed:' .. lane, 0, #due / 2 - 1) end
  for _, host in ipairs(redis.call('ZRANGEBYSCORE', P .. 'waiting:' .. lane, '-inf', now, 'LIMIT', 0, 2 * limit + 16)) do
    local scope = scope_named(host)
    if scope then
      scope.at[lane] = 'waiting'
      stir(scope, lane)
    else touch(host)[lane] = 'waiting' end
  end
end

-- The best ready hosts of each lane, as [name, rank…] from `at` on; read again when they are used up or hosts became ready.
local heads, at = {}, {}
local function head_of(lane)
  if risen[lane] then heads[lane], risen[lane] = nil, nil end
  local head = heads[lane]
  while head and head[at[lane]] and hosts[head[at[lane]]] and hosts[head[at[lane]]][lane] ~= 'ready' do
    at[lane] = at[lane] + 2 -- this host was used for another lane
  end
  if not head or not head[at[lane]] and #head == 2 * HEADS then
    write_place(P .. 'ready:' .. lane)
    head = redis.call('ZRANGE', P .. 'ready:' .. lane, 0, HEADS - 1, 'WITHSCORES')
    heads[lane], at[lane] = head, 1
  end
  return head[at[lane]], head[at[lane] + 1]
end

-- A poll goes before an article unless the article has waited 22 hours longer.
local POLL_LEAD = 22 * HOUR
local function best_host()
  local lane, host, score
  for _, candidate in ipairs(lanes) do
    local head, its = head_of(candidate)
    if head then
      local s = tonumber(its) - (candidate == 'poll' and POLL_LEAD or 0)
      if not score or s < score then lane, host, score = candidate, head, s end
    end
  end
  return lane, host
end

-- True if this worker may hold the task. A task held at two deaths may have caused them: a worker holds one such task at a
-- time.
local suspect
local function may_hold(id, text)
  if not string.find(text, '"deaths":', 1, true) or (unpacked(text, id).deaths or 0) < 2 then return true end
  if suspect == nil then
    local other = redis.call('GET', P .. 'suspect:' .. nonce)
    local holder = other and holder_of(other)
    suspect = holder and string.sub(holder.token, -#nonce) == nonce or false
  end
  if suspect then return false end
  suspect = true
  redis.call('SET', P .. 'suspect:' .. nonce, id, 'PX', 24 * HOUR)
  return true
end

-- Counts how late a task is taken: tasks within 1, 2, 4 … 65 536 seconds of their due time, by lane, and the sum in ms.
local late = {}
local function note_lateness(lane, text, score, now)
  local priority = tonumber(string.match(text, '^..(%d+)') or string.match(text, '"priority":(%d+)') or 0)
  local ms, bound = math.max(0, now - score - priority * HOUR), 1
  while bound < 65536 and ms > 1000 * bound do bound = 2 * bound end
  local name = string.match(lane, '^%a+') .. ':'
  local bucket = name .. (ms > 1000 * bound and 'inf' or bound)
  late[bucket] = (late[bucket] or 0) + 1
  late[name .. 'sum'] = (late[name .. 'sum'] or 0) + ms
end

-- Takes a host's best task: its id and record (nil if there is none for this worker), and true if the lease is a probe.
local function pop(lane, name, now)
  local popped = redis.call('ZPOPMIN', queue_key(lane, name))
  local id, text = popped[1], popped[1] and redis.call('GET', task_key(popped[1]))
  local host, its, probe = touch(name, lane), scopes_of(name), false
  if text and not may_hold(id, text) then
    enqueue(unpacked(text, id), now, 1000)
    text = nil
  end
  if text then
    if host.state ~= 'closed' then host.state, probe = 'half_open', true end -- already so if the last probe was lost
    for i = 1, #its do
      if its[i].state ~= 'closed' then its[i].state, probe = 'half_open', true end
    end
    occupy(host, its, now)
    note_lateness(lane, text, tonumber(popped[2]), now)
  end
  settle(name, now)
  for i = 1, #its do
    if stirred[its[i]] then settle_scope(its[i], now) end
  end
  return text and id, text, probe
end

-- True if the best host must wait for a scope; it is parked there, and so is no longer among the ready hosts.
local function parks(lane, name, now)
  host_of(name)[lane] = 'ready'
  if not shut_scope(scopes_of(name), now) then return false end
  touch(name, lane)
  settle(name, now)
  return true
end

local function take(now)
  local leases, names = {}, {}
  for _ = 1, 4 * limit + 16 do
    local lane, host = best_host()
    if not host or (#leases >= limit and limit > 0) then break end -- limit == 0: only to learn when tasks are due
    if not parks(lane, host, now) then
      if limit == 0 then break end
      local id, text, probe = pop(lane, host, now)
      if id then
        names[#names + 1] = host
        leases[#leases + 1] = {id, text, '', probe and 1 or 0}
      end
    end
  end
  if #leases == 0 then return leases end
  for bucket, number in pairs(late) do redis.call('HINCRBY', P .. 'late', bucket, string.format('%.0f', number)) end
  local number, holders, expiries = redis.call('INCRBY', P .. 'token', #leases), {}, {}
  for i, lease in ipairs(leases) do
    lease[3] = string.format('%.0f-%s', number - i, nonce)
    holders[2 * i - 1], holders[2 * i] = lease[1], lease[3] .. ' 1 ' .. names[i]
    expiries[2 * i - 1], expiries[2 * i] = now + POLICY.lease, lease[1]
  end
  redis.call('HSET', P .. 'holders', unpack(holders))
  redis.call('ZADD', P .. 'leases', unpack(expiries))
  return leases
end

-- The ms until tasks of these lanes may be due (-1: none), and how many of the lanes' hosts are blocked.
local function outlook(now)
  local soonest, blocked = nil, 0
  for _, lane in ipairs(lanes) do
    if head_of(lane) then soonest = now end
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
  remove_dropped()
  for _, lane in ipairs(lanes) do promote(lane, now) end
  settle_all(now)
  local leases = take(now)
  settle_all(now)
  write_places()
  local wait, blocked = outlook(now)
  return {leases, wait, blocked, given_up}
end
