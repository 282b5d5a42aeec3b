-- done: ARGV = clock, id, token, status, reason, delay ms, patch JSON, commit JSON, signal ('' if released before),
--   dead letter (0|1), http status -> 'done' | 'rescheduled' | 'lost'
local id, token, status, reason, delay = ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])

local function reschedule(task, now)
  if renew(task) then delay = 0
  else task.again, task.quarantined, task.site_failures, task.site_failed_at = nil, nil, nil, nil end
  task.reason, task.attempts, task.updated_at = reason, nil, now
  save_task(task)
  enqueue(task, now, delay)
  return 'rescheduled'
end

local function main(now)
  local holder = held(id, token)
  if not holder then return 'lost' end
  local task = load_task(id)
  if task then
    for _, command in ipairs(cjson.decode(ARGV[8])) do redis.call(unpack(command)) end
    if ARGV[9] ~= '' then signal_host(holder.host, ARGV[9], nil, now) end
  end
  drop_lease(id, holder, now)
  if not task then return 'lost' end
  merge(task, cjson.decode(ARGV[7]))
  task.fetch_count = (task.fetch_count or 0) + 1
  task.last_fetched_at = now
  if status == 'pending' or task.again_queued then return reschedule(task, now) end
  if ARGV[10] == '1' then dead_letter(task, reason, now, tonumber(ARGV[11])) end
  finish(task, status, reason, now)
  return 'done'
end
