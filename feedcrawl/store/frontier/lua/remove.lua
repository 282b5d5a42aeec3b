-- remove: ARGV = clock, id -> 'removed' | 'unknown'. For operators and for unsubscribing; a lease of the task becomes lost.
local function main(now)
  local id = ARGV[2]
  local task = load_task(id)
  if not task then return 'unknown' end
  local holder = holder_of(id)
  if holder then drop_lease(id, holder, now) end
  if pending(task) then
    dequeue(task)
    count_task(task, -1)
  end
  redis.call('DEL', task_key(id))
  return 'removed'
end
