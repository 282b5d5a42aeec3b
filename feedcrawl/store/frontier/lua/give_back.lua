-- give_back: ARGV = clock, id, token, reason, delay ms, counted (0|1), site-wide (0|1), http status, patch JSON
--   -> 'pending' | 'dead' | 'quarantined' | 'lost'
local id, token, reason, delay = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local counted, site_wide, status = ARGV[6] == '1', ARGV[7] == '1', tonumber(ARGV[8])

-- True if the task has failed so often while its host answered other requests that the URL itself is dead.
local function failed_alone(task, host, now)
  if host.ok_at > tonumber(task.site_failed_at or task.discovered_at or 0) then
    task.site_failures = (task.site_failures or 0) + 1
  end
  task.site_failed_at = now
  return not POLLS[task.kind] and (task.site_failures or 0) >= POLICY.max_attempts
end

local function main(now)
  local holder = leased_by(id, token)
  if not holder then return 'lost' end
  local task = load_task(id)
  drop_lease(id, holder, now)
  if not task then return 'lost' end
  merge(task, cjson.decode(ARGV[9]))
  if task.host ~= holder.host then task.site_failures, task.site_failed_at = nil, nil end
  task.last_error, task.updated_at = reason, now
  if not renew(task) then
    if counted then task.attempts = (task.attempts or 0) + 1 end
    local dead = site_wide and failed_alone(task, host_of(holder.host), now)
    if dead or (task.attempts or 0) >= POLICY.max_attempts then return give_up(task, reason, now, status) end
  end
  save_task(task)
  enqueue(task, now, delay)
  return 'pending'
end
