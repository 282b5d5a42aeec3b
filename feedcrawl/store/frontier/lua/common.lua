-- Shared by all scripts of the frontier: comes after `local POLICY = {…}`, before the other parts that a script needs and
-- its `main(now)`, which run.lua calls (store/frontier/queue.py). KEYS[1] is the shard's prefix, ARGV[1] the clock ('' =
-- TIME). One script touches one shard's keys only, so that a cluster can spread shards (docs/decisions/0002-frontier.md).
local P = KEYS[1]
local LANES = {'poll', 'page'} -- and `file`, `listing`, and `page:<spider>` for pages that only one spider can read
local HOUR = 3600000

-- The time in milliseconds, which never runs backwards: if the server's clock is set back, the difference is added from
-- then on.
local function clock()
  local raw = tonumber(ARGV[1])
  if not raw then
    local t = redis.call('TIME')
    raw = t[1] * 1000 + math.floor(t[2] / 1000)
  end
  local stored = redis.call('GET', P .. 'clock') or '0 0'
  local last, offset = string.match(stored, '^(%d+) (%d+)$')
  local now = math.max(raw + offset, tonumber(last))
  local current = string.format('%.0f %.0f', now, now - raw)
  if current ~= stored then redis.call('SET', P .. 'clock', current) end
  return now
end

local POLLS = {feed = true, sitemap = true, websub = true, site_search = true, site = true}

local function lane_of(task) return task.lane or (POLLS[task.kind] and 'poll' or 'page') end

local function task_key(id) return P .. 't:' .. id end
local function queue_key(lane, host) return P .. 'q:' .. lane .. ':' .. host end
local function host_key(host) return P .. 'h:' .. host end

-- The field under which a task is counted: kind, origin and source.
local function label(task) return string.format('%s:%s:%s', task.kind, task.origin or '', task.source or '') end

local tally = {} -- changes of the counters, written once at the end of the script
local function count(status, what, by)
  local name = status .. ':' .. what
  tally[name] = (tally[name] or 0) + by
end

local function save_counts()
  local names, fields = {}, {}
  for name, by in pairs(tally) do
    if by ~= 0 then names[#names + 1] = name end
  end
  if #names == 0 then return end
  for i, old in ipairs(redis.call('HMGET', P .. 'counts', unpack(names))) do
    fields[2 * i - 1], fields[2 * i] = names[i], (old or 0) + tally[names[i]]
  end
  redis.call('HSET', P .. 'counts', unpack(fields))
end

-- True for a pending task: its record has no status, which saves memory a million times.
local function pending(task) return task.status == nil end

local function holder_from(value)
  if not value then return nil end
  local token, slot, host = string.match(value, '^(%S+) (%d) (.*)$')
  return {token = token, slot = slot == '1', host = host}
end

local function holder_of(id) return holder_from(redis.call('HGET', P .. 'holders', id)) end

local function leased_by(id, token)
  local holder = holder_of(id)
  if holder and holder.token == token then return holder end
  return nil
end

local dropped = {} -- ids whose leases end, removed together: at the end of the script, or before `take` makes new leases
local function remove_dropped()
  if #dropped == 0 then return end
  redis.call('HDEL', P .. 'holders', unpack(dropped))
  redis.call('ZREM', P .. 'leases', unpack(dropped))
  dropped = {}
end
