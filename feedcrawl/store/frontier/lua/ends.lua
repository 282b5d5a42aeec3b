-- Applies a worker's patch to a task's record; `scopes` are those of the host of the patch.
local function merge(task, patch)
  local moves = patch.host or patch.source or patch.origin
  local its = patch.scopes
  patch.scopes = nil
  if moves then count_task(task, -1) end
  for name, value in pairs(patch) do
    if value == cjson.null then task[name] = nil else task[name] = value end
  end
  if moves then count_task(task, 1) end
  if patch.host then place_in_scopes(task.host, its, 1) end
end

-- If a task was enqueued again while a worker held it, the task starts anew instead of ending or using an attempt.
local function renew(task)
  if not task.again_queued then return false end
  task.again, task.again_queued, task.attempts = task.again_queued, nil, nil
  task.quarantined, task.site_failures, task.site_failed_at, task.deaths = nil, nil, nil, nil
  return true
end

-- Ends a task; its record is kept for as long as the same task must not be enqueued again.
local function finish(task, status, reason, now)
  for _, name in ipairs({'payload', 'site_failures', 'site_failed_at', 'quarantined', 'again', 'deaths'}) do
    if task[name] ~= nil then task[name] = nil end -- a field that is set to nil takes a place in its table
  end
  task.status, task.reason, task.updated_at = status, reason, now
  remember_task(task)
  count_task(task, -1)
  count(status, label(task), 1)
end

-- The payload for a dead letter, without the cookies of redirects. An article's long payload loses content and summary,
-- since its entry has them too.
local function carried(task)
  local text = task.payload or ''
  local has_cookies = string.find(text, '"redirect_cookies"', 1, true)
  if not has_cookies and (task.kind ~= 'article' or #text < 2048) then return task.payload end
  local payload = cjson.decode(text)
  payload.redirect_cookies = nil
  if task.kind == 'article' and #text >= 2048 then payload.content, payload.summary = nil, nil end
  return cjson.encode(payload)
end

local function dead_letter(task, reason, now, status)
  local dead_letter = {url = task.url, uid = task.id, kind = task.kind, reason = reason, status = status, at = now / 1000,
    attempts = (task.attempts or 0) + (task.deaths or 0), category = task.category, priority = task.priority,
    source = task.source, origin = task.origin, parent = task.parent, depth = task.depth, payload = carried(task)}
  redis.call('RPUSH', P .. 'dlq', cjson.encode(dead_letter))
end

-- Gives up a task after its attempts: a page dies with a dead letter; a feed, sitemap or hub renewal is quarantined, which
-- means due again ever later.
local function give_up(task, reason, now, status)
  if POLLS[task.kind] then
    task.quarantined = (task.quarantined or 0) + 1
    task.attempts, task.deaths, task.reason, task.updated_at = nil, nil, reason, now
    save_task(task)
    enqueue(task, now, math.min(24 * HOUR, HOUR * 2 ^ (task.quarantined - 1)))
    return 'quarantined'
  end
  dead_letter(task, reason, now, status)
  finish(task, 'dead', reason, now)
  return 'dead'
end
