-- done: ARGV = clock, id, token, status, reason, delay ms, patch JSON, commit JSON, signal ('' if released before),
--   dead letter (0|1), http status -> 'done' | 'rescheduled' | 'lost'
local now = clock()
local id, token, status, reason, delay = ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local holder = held(id, token)
if not holder then return 'lost' end
local task = load_task(id)
if not task then drop_lease(id, holder, now) return 'lost' end

for _, command in ipairs(cjson.decode(ARGV[8])) do redis.call(unpack(command)) end

if ARGV[9] ~= '' then signal_host(holder.host, ARGV[9], nil, now) end
merge(task, cjson.decode(ARGV[7]))
drop_lease(id, holder, now)
task.fetch_count = (task.fetch_count or 0) + 1
task.last_fetched_at = now
if status == 'pending' or task.again_queued then
  if task.again_queued then delay = 0 end
  task.reason, task.attempts, task.updated_at = reason, nil, now
  task.quarantined, task.again, task.again_queued, task.site_failures = nil, task.again_queued, nil, nil
  save_task(task)
  enqueue(task, now, delay)
  return 'rescheduled'
end
if ARGV[10] == '1' then dead_letter(task, reason, now, tonumber(ARGV[11])) end
finish(task, status, reason, now)
return 'done'
