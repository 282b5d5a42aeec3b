-- adopt: ARGV = clock, the task's record as JSON, delay ms, polled (0|1), the host's scopes -> 'queued' | 'pending' | 'known'
-- Stores a task from another shard. If it is already pending here, a kill came between the steps of its move: it is
-- unchanged.
local function main(now)
  local task, polled = cjson.decode(ARGV[2]), ARGV[4] == '1'
  local old = load_task(task.id)
  if old and pending(old) then return 'pending' end
  if not pending(task) then
    remember_task(task)
    return 'known'
  end
  if polled then task.fetch_count, task.last_fetched_at = (task.fetch_count or 0) + 1, now end
  task.updated_at = now
  save_task(task)
  count_task(task, 1)
  place_in_scopes(task.host, ARGV, 5)
  enqueue(task, now, tonumber(ARGV[3]))
  return 'queued'
end
