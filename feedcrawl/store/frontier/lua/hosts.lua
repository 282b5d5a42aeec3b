-- Hosts: read once per script, changed as tables, then settled and written back at the end of the script. The field named
-- after a lane has the set in which the host is for that lane, so that a move changes two sets and not eight. `tasks` is
-- the number of pending tasks. Each kind of wider scope has a field (`site`: registered domains) with the key of the host's
-- scope, or the length of that key if the host's name ends with it.
local DEFAULTS = {__index = {next_at = 0, busy = 0, delay = POLICY.delay, concurrency = POLICY.concurrency,
  state = 'closed', failures = 0, opened = 0, doublings = 0, good = 0, refusals = 0, ok_at = 0, poll = '', page = '',
  tasks = 0, site = 0, blamed = 0, away = 0}}
local hosts, stored, touched = {}, {}, {}

-- The fields that most hosts have: a table that is made with them need not grow for each.
local function usual() return {next_at = 0, busy = 0, poll = '', page = '', tasks = 0, site = 0, ok_at = 0, exists = nil} end
local COMMON = {poll = true, page = true}

local function host_of(name)
  if hosts[name] then return hosts[name] end
  local host, before = setmetatable(usual(), DEFAULTS), setmetatable(usual(), DEFAULTS)
  local fields = redis.call('HGETALL', host_key(name))
  before.exists = fields[1] and true
  for i = 1, #fields, 2 do
    local value = tonumber(fields[i + 1]) or fields[i + 1]
    host[fields[i]], before[fields[i]] = value, value
  end
  hosts[name], stored[name] = host, before
  return host
end

-- The host, marked as changed; with `lane`, its queue of that lane is marked too.
local function touch(name, lane)
  local host, lanes = host_of(name), touched[name]
  if not lanes then
    lanes = {}
    touched[name] = lanes
  end
  if lane then
    lanes[lane] = true
    if not COMMON[lane] and not host.own then host.own = 1 end
  end
  return host
end

-- Scopes: pace and circuit that all hosts of a registered domain share, or of another kind in SCOPES (scripts.py), which
-- has the narrowest kind first. A scope is named as in the sets of places: the mark of its kind, with which no host begins,
-- and its key (`@example.com`). A record exists while a host of the scope has an open request, the scope's turn is to come,
-- or hosts wait for it (`at`: lane -> the scope's place; `front`: lane -> the one host of the scope that is ready). A field
-- that a record lacks has the value of its kind.
local KIND_OF = {} -- the kinds by the byte of their mark
local PLACES = {ready = true, waiting = true, blocked = true} -- and those of hosts that wait for a scope
local scopes, stirred, changed = {}, {}, {}
for i = 1, #SCOPES do
  local kind = SCOPES[i]
  kind.__index, KIND_OF[string.byte(kind.mark)], PLACES[kind.parked], scopes[kind] = kind, kind, true, {}
end

-- The scope with this key; the key is a field of it until it is written.
local function load_scope(kind, key)
  local scope = scopes[kind][key]
  if scope then return scope end
  local text = redis.call('GET', P .. kind.record .. key)
  local next_at, busy = string.match(text or '0 0', '^(%d+) (%d+)$')
  if next_at then scope = {next_at = tonumber(next_at), busy = tonumber(busy), at = {}, front = {}, key = key}
  else
    scope = cjson.decode(text)
    scope.key = key
  end
  scopes[kind][key] = setmetatable(scope, kind)
  return scope
end

-- The scope of this name; nil for the name of a host.
local function scope_named(name)
  local kind = KIND_OF[string.byte(name)]
  return kind and load_scope(kind, string.sub(name, 2))
end

-- The scopes of a host, the narrowest first.
local within, NONE = {}, {}
local function scopes_of(name)
  local found = within[name]
  if found then return found end
  local host = host_of(name)
  found = NONE
  for i = 1, #SCOPES do
    local kind = SCOPES[i]
    local key = host[kind.field]
    if key and key ~= 0 then
      local scope = load_scope(kind, type(key) == 'number' and string.sub(name, -key) or key)
      if found == NONE then found = {scope} else found[#found + 1] = scope end
    end
  end
  within[name] = found
  return found
end

-- Marks a scope as changed; with `lane`, the hosts of that lane that wait for the scope may have changed too.
local function stir(scope, lane)
  stirred[scope], changed[scope] = stirred[scope] or {}, true
  if lane then
    stirred[scope][lane] = true
    if not COMMON[lane] then scope.own = 1 end
  end
end

-- The number of requests that may be open at a host or scope: one if its circuit is not closed.
local function allowed(paced) return paced.state == 'closed' and paced.concurrency or 1 end

local function is_open(paced, now) return paced.busy < allowed(paced) and paced.next_at <= now end

-- The narrowest of the scopes at which no request may be made now; nil if there is none.
local function shut_scope(its, now)
  for i = 1, #its do
    if not is_open(its[i], now) then return its[i] end
  end
  return nil
end

local function is_own(name) return name == 'file' or name == 'listing' or string.sub(name, 1, 5) == 'page:' end

-- All lanes in which a host or scope has a place or may get one; only those with `own` have lanes besides the common two.
local function lanes_of(places, more, own)
  if not own then return LANES end
  local names = {'poll', 'page'}
  for name in pairs(places) do
    if is_own(name) then names[#names + 1] = name end
  end
  for name in pairs(more) do
    if is_own(name) and not rawget(places, name) then names[#names + 1] = name end
  end
  return names
end

local function parked_key(scope, lane) return P .. scope.parked .. ':' .. lane .. ':' .. scope.key end

-- The key of a place's set, nil if it has none. Hosts that wait for a scope are in a set of the scope (`parked`), and the
-- scope takes their place in the other sets.
local function place_key(place, lane, its)
  if place == '' or place == 'open' then return nil end
  for i = 1, #its do
    if its[i].parked == place then return parked_key(its[i], lane) end
  end
  return P .. place .. ':' .. lane
end

local risen = {} -- lanes to which a ready host was added since their heads were read

-- Changes of the places' sets: key -> name -> score, or false for a name that leaves. They are written together, at the end
-- of the script or before the set is read.
local moves = {}

local function note_move(key, name, score)
  moves[key] = moves[key] or {}
  moves[key][name] = score
end

local function write_place(key)
  local added, gone = {}, {}
  for name, score in pairs(moves[key] or {}) do
    if score then added[#added + 1], added[#added + 2] = score, name
    else gone[#gone + 1] = name end
  end
  moves[key] = nil
  if #gone > 0 then redis.call('ZREM', key, unpack(gone)) end
  if #added > 0 then redis.call('ZADD', key, unpack(added)) end
end

local function write_places()
  for key in pairs(moves) do write_place(key) end
end

-- Moves a host, whose scopes are `its`, or a scope to another place of a lane; `places` stores the place per lane.
local function move(places, name, lane, place, score, its)
  local old = places[lane] or ''
  local from, to = place_key(old, lane, its), place_key(place, lane, its)
  if from and from ~= to then note_move(from, name, false) end
  if to and not (from == to and place == 'blocked') then note_move(to, name, score) end
  if place == 'ready' then risen[lane] = true end
  if old ~= place then places[lane] = place end
end

-- Puts a host into its place for each lane: `ready` by the best task's rank, `waiting` by the time of its next turn,
-- `blocked` while all its slots have open requests, `parked` while one of its scopes must wait, or nowhere without tasks.
local function settle(name, now)
  local host, lanes = hosts[name], touched[name]
  touched[name] = nil
  for _, lane in ipairs(lanes_of(host, lanes, host.own)) do
    local old = host[lane] or ''
    if old ~= '' or lanes[lane] then
      local best = redis.call('ZRANGE', queue_key(lane, name), 0, 0, 'WITHSCORES')
      local place, score, its = '', nil, scopes_of(name)
      if best[1] then
        if host.busy >= allowed(host) then place, score = 'blocked', now
        elseif host.next_at > now then place, score = 'waiting', host.next_at
        else
          local shut = shut_scope(its, now)
          place, score = shut and shut.parked or 'ready', best[2]
        end
      end
      if old ~= place then
        for i = 1, #its do
          local scope = its[i]
          if scope.front[lane] == name and place ~= 'ready' then
            scope.front[lane] = nil
            stir(scope, lane)
          elseif old == scope.parked or place == scope.parked then stir(scope, lane) end
        end
      end
      move(host, name, lane, place, score, its)
    end
  end
end

-- Puts a scope for which hosts wait into its place: among the waiting or blocked hosts. When the scope may be requested, the
-- best of its hosts becomes ready, one per lane.
local function settle_scope(scope, now)
  local lanes = stirred[scope]
  for _, lane in ipairs(lanes_of(scope.at, lanes, scope.own)) do
    if (scope.at[lane] or '') ~= '' or lanes[lane] then
      local parked = parked_key(scope, lane)
      write_place(parked)
      local best = redis.call('ZRANGE', parked, 0, 0)[1]
      local place, score = '', nil
      if best then
        if scope.busy >= allowed(scope) then place, score = 'blocked', now
        elseif scope.next_at > now then place, score = 'waiting', scope.next_at
        else place = 'open' end
      end
      move(scope.at, scope.mark .. scope.key, lane, place, score, NONE)
      local front = scope.front[lane]
      if (place == 'open') ~= (front ~= nil) and best then -- the best host becomes ready, or the ready one is parked
        front = front or best
        scope.front[lane] = front
        touch(front, lane)
        settle(front, now)
      end
    end
  end
  stirred[scope] = nil
end

local function settle_all(now)
  for name in pairs(touched) do settle(name, now) end
  local scope = next(stirred)
  while scope do
    settle_scope(scope, now)
    scope = next(stirred)
  end
end

local function idle(host)
  if host.busy > 0 or host.tasks > 0 then return false end
  for _, value in pairs(host) do
    if PLACES[value] then return false end
  end
  return true
end

-- True if a scope's record has nothing but its next turn and its number of open requests.
local function is_plain(scope)
  local kind = getmetatable(scope)
  for field, value in pairs(scope) do
    if field ~= 'next_at' and field ~= 'busy' and value ~= kind[field]
      and (type(value) ~= 'table' or next(value)) then return false end
  end
  return true
end

-- A scope's record is kept after its last turn for as long as failures of its hosts count together; a pace set for the
-- scope or its hosts is kept for as long as ended tasks are.
local function save_scope(scope, now)
  local key = P .. scope.record .. scope.key
  scope.key = nil
  for lane, place in pairs(scope.at) do
    if place == '' then scope.at[lane] = nil end
  end
  local plain = is_plain(scope)
  local text = plain and string.format('%.0f %d', scope.next_at, scope.busy) or cjson.encode(scope)
  if next(scope.at) then redis.call('SET', key, text) -- hosts wait for it
  else
    local is_set = rawget(scope, 'delay') or rawget(scope, 'concurrency') or rawget(scope, 'hosts_delay')
    local ttl = is_set and POLICY.remember or scope.busy > 0 and POLICY.host_ttl or scope.together
    if scope.next_at - now > ttl then ttl = ttl + scope.next_at - now end
    redis.call('SET', key, text, 'PX', string.format('%.0f', ttl))
  end
end

-- A host's record is kept after its last task for as long as its pace and circuit may matter. `circuits` has the hosts
-- whose circuit is not closed, by the time of the last change, so that they are found without reading all hosts.
local function save_host(name, now)
  local host, before, changes = hosts[name], stored[name], {}
  for field, value in pairs(host) do
    if rawget(before, field) ~= value then
      changes[#changes + 1] = field
      changes[#changes + 1] = value
    end
  end
  if #changes == 0 then return end
  redis.call('HSET', host_key(name), unpack(changes))
  if host.state ~= before.state then
    redis.call('ZREMRANGEBYSCORE', P .. 'circuits', '-inf', now - POLICY.host_ttl)
    if host.state == 'closed' then redis.call('ZREM', P .. 'circuits', name)
    else redis.call('ZADD', P .. 'circuits', now, name) end
  end
  if idle(host) then redis.call('PEXPIRE', host_key(name), POLICY.host_ttl)
  elseif before.exists and idle(before) then redis.call('PERSIST', host_key(name)) end
end
