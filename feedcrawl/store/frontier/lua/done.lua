-- done: ARGV = clock, then for each task: id, token, status, reason, delay ms, patch JSON, commit JSON, signal ('' if
--   released before), dead letter (0|1), http status, recovered ms ('' = none) -> ['done' | 'rescheduled' | 'lost'…]
local PARTS = 11
-- Reasons of tasks that end without a request.
local UNFETCHED = {already_stored = true, robots_blocked = true}

-- Notes a poll that backs off because its host fails. A host that fails one feed and answers others never has two failures
-- in a row: such a poll's back-off concerns only its feed.
local AWAY = 10000
local function note_away(name, task, recovered, now)
  local key, member = away_key(name), delayed_member(task)
  local host = recovered and host_of(name)
  if not recovered or host.state == 'closed' and host.failures < 2 or redis.call('ZCARD', key) >= AWAY then
    redis.call('ZREM', key, member)
    return
  end
  redis.call('ZADD', key, now + recovered, member)
  redis.call('PEXPIRE', key, POLICY.host_ttl)
  touch(name).away = 1
end

-- Runs an ending's commands and signal. This is done for all endings before any lease is dropped, so that a command that
-- fails ends no task.
local function commit(ending, holder, text, now)
  if not holder or holder.token ~= ending.token then return nil end
  local task = text and unpacked(text, ending.id)
  if task then
    for _, command in ipairs(cjson.decode(ending.commit)) do redis.call(unpack(command)) end
    if ending.signal ~= '' then signal_host(holder.host, ending.signal, nil, now) end
  end
  return holder, task
end

local function reschedule(task, reason, delay, now)
  if renew(task) then delay = 0
  else task.again, task.quarantined, task.site_failures, task.site_failed_at = nil, nil, nil, nil end
  task.deaths = nil
  task.reason, task.attempts, task.updated_at = reason, nil, now
  save_task(task)
  enqueue(task, now, delay)
  return 'rescheduled'
end

local function conclude(ending, holder, task, now)
  if not holder then return 'lost' end
  drop_lease(ending.id, holder, now)
  if not task then return 'lost' end
  merge(task, cjson.decode(ending.patch))
  if not UNFETCHED[ending.reason] then
    task.fetch_count = (task.fetch_count or 0) + 1
    task.last_fetched_at = now
  end
  if ending.status == 'pending' or task.again_queued then
    note_away(holder.host, task, ending.recovered, now)
    return reschedule(task, ending.reason, ending.delay, now)
  end
  if ending.dead_letter then
    task.attempts = (task.attempts or 0) + 1 -- the take that ends here counts too
    dead_letter(task, ending.reason, now, ending.http)
  end
  finish(task, ending.status, ending.reason, now)
  return 'done'
end

local function main(now)
  local endings, answers, ids, names = {}, {}, {}, {}
  for i = 2, #ARGV, PARTS do ids[#ids + 1], names[#names + 1] = ARGV[i], task_key(ARGV[i]) end
  local holders, texts = redis.call('HMGET', P .. 'holders', unpack(ids)), redis.call('MGET', unpack(names))
  for i = 2, #ARGV, PARTS do
    local ending = {id = ARGV[i], token = ARGV[i + 1], status = ARGV[i + 2], reason = ARGV[i + 3],
      delay = tonumber(ARGV[i + 4]), patch = ARGV[i + 5], commit = ARGV[i + 6], signal = ARGV[i + 7],
      dead_letter = ARGV[i + 8] == '1', http = tonumber(ARGV[i + 9]), recovered = tonumber(ARGV[i + 10])}
    local number = #endings + 1
    local holder, task = commit(ending, holder_from(holders[number]), texts[number], now)
    endings[number] = {ending, holder, task}
  end
  for i = 1, #endings do answers[i] = conclude(endings[i][1], endings[i][2], endings[i][3], now) end
  return answers
end
