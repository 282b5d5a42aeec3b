-- Stored records of tasks, packed (the twin of store/frontier/packed.py, which describes the form). CODES is made there.
-- Records of earlier versions are JSON objects: they are read as they are, and packed when they are written next.
-- No table here has more than 16 fields: one of 17 takes more than 1 KB, and glibc caches only smaller blocks.
local FORM = '^(.)(.)(%d*)\31(%C*)\31(%C*)\31(%C*)\31(%C*)\31(%C*)\31(%C*)\31(%C*)\31(%C*)\31([^\31]*)\31(.*)$' -- JSON may have DEL
local STATUSES = {f = 'fetched', d = 'dead', m = 'moved'}
local PLACED = {kind = true, origin = true, priority = true, url = true, host = true, parent = true, depth = true,
  source = true, category = true, discovered_at = true, fetch_count = true, last_fetched_at = true, updated_at = true,
  status = true, reason = true, payload = true}

-- Times stay texts, since most are only written back.
local function unpack_history(task, text)
  local count, last, updated, status, reason = string.match(text, '^(%d+) (%S+) (%S+) (.)(.*)$')
  if count ~= '0' then task.fetch_count = count end
  if last ~= '-' then task.last_fetched_at = last end
  if updated ~= '-' then task.updated_at = updated == '=' and last or updated end
  task.status = STATUSES[status]
  if reason ~= '' then task.reason = string.sub(reason, 2) end
end

local function unpacked(text, id)
  if string.byte(text) == 123 then return cjson.decode(text) end -- an opening brace: the record of an earlier version
  local kind, origin, priority, url, host, parent, depth, source, category, discovered, history, rest, payload =
    string.match(text, FORM)
  if string.sub(url, 1, 2) == '//' then url = 'https:' .. url end
  if host == '' then host = string.match(url, '^%a+://([^/?#]+)') end
  local task = {id = id, kind = CODES.kind_of[kind], origin = CODES.origin_of[origin], priority = tonumber(priority), url = url,
    host = host, parent = parent ~= '' and parent or nil, depth = depth ~= '' and tonumber(depth) or nil,
    source = source ~= '' and source or nil, category = category ~= '' and category or nil,
    discovered_at = discovered ~= '' and discovered or nil, payload = payload ~= '' and payload or nil}
  if history ~= '' then unpack_history(task, history) end
  if rest ~= '' then
    for name, value in pairs(cjson.decode(rest)) do task[name] = value end
  end
  return task
end

local texts = {} -- numbers as they are written: most are the present time
local function whole(number)
  if type(number) ~= 'number' then return number end
  local text = texts[number]
  if not text then
    text = string.format('%.0f', number)
    texts[number] = text
  end
  return text
end

local function packed_history(task, reason)
  local status, last, updated = task.status, whole(task.last_fetched_at), whole(task.updated_at)
  if not (status or last or updated or task.fetch_count or reason) then return '' end
  if updated and updated == last then updated = '=' end
  local text = whole(task.fetch_count or 0) .. ' ' .. (last or '-') .. ' ' .. (updated or '-') .. ' '
    .. (status and string.sub(status, 1, 1) or '-')
  return reason and text .. ' ' .. reason or text
end

local function clean(text) return string.find(text, '^%C*$') end

-- A text that is empty or has a control character goes to `rest`; returns the text for the text's own place.
local function place(task, name, rest)
  local text = task[name]
  if text and text ~= '' and clean(text) then return text end
  rest[name] = text
  return ''
end

local function packed(task)
  local rest = {}
  for name, value in pairs(task) do
    if not PLACED[name] and name ~= 'id' then rest[name] = value end
  end
  local kind, origin = CODES.kinds[task.kind], CODES.origins[task.origin]
  if not kind or not origin then rest.kind, rest.origin = task.kind, task.origin end
  local url, host, parent, source, category, reason = task.url, task.host, task.parent or '', task.source or '',
    task.category or '', task.reason
  if url == '' or host == '' or task.parent == '' or task.source == '' or task.category == ''
    or not clean(url .. host .. parent .. source .. category .. (reason or '')) then
    url, host, parent = place(task, 'url', rest), place(task, 'host', rest), place(task, 'parent', rest)
    source, category = place(task, 'source', rest), place(task, 'category', rest)
    if reason and not clean(reason) then reason, rest.reason = nil, reason end
  end
  if string.match(url, '^%a+://([^/?#]+)') == host then host = '' end
  if string.sub(url, 1, 8) == 'https://' then url = string.sub(url, 7)
  elseif string.sub(url, 1, 2) == '//' then url, rest.url = '', url end
  return (kind or '-') .. (origin or '-') .. (whole(task.priority) or '') .. '\31' .. url .. '\31' .. host .. '\31' .. parent
    .. '\31' .. (task.depth and task.depth ~= 0 and whole(task.depth) or '') .. '\31' .. source .. '\31' .. category .. '\31'
    .. (whole(task.discovered_at) or '') .. '\31' .. packed_history(task, reason) .. '\31'
    .. (next(rest) and cjson.encode(rest) or '') .. '\31' .. (task.payload or '')
end

local function load_task(id)
  local text = redis.call('GET', task_key(id))
  return text and unpacked(text, id) or nil
end

local function save_task(task) redis.call('SET', task_key(task.id), packed(task)) end

-- Stores the record of an ended task for as long as the same task must not be enqueued again.
local function remember_task(task) redis.call('SET', task_key(task.id), packed(task), 'PX', POLICY.remember) end
