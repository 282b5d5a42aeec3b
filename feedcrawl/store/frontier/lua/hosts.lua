-- Hosts: read once per script, changed as tables, then settled and written back at the end of the script. The field named
-- after a lane has the set in which the host is for that lane, so that a move changes two sets and not eight. `tasks` is
-- the number of pending tasks; `site` is the length of the registered domain at the end of the name, 0 if there is none.
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

-- Registered domains: pace and circuit that all hosts of a domain share. A record exists while a host of the domain has an
-- open request, the domain's turn is to come, or hosts wait for it (`at`: lane -> the domain's place; `front`: lane -> the
-- one host of the domain that is ready).
local DOMAIN = {__index = {next_at = 0, busy = 0, delay = POLICY.domain_delay, concurrency = POLICY.domain_concurrency,
  state = 'closed', failures = 0, opened = 0, failed_at = 0}}
local domains, stirred, changed = {}, {}, {}

local function domain_key(name) return P .. 'd:' .. name end

local function load_domain(name)
  if not domains[name] then
    local text = redis.call('GET', domain_key(name))
    local next_at, busy = string.match(text or '0 0', '^(%d+) (%d+)$')
    local domain = next_at and {next_at = tonumber(next_at), busy = tonumber(busy), at = {}, front = {}}
    domains[name] = setmetatable(domain or cjson.decode(text), DOMAIN)
  end
  return domains[name]
end

-- The domain of a host and the domain's name; nil if there is none.
local function domain_of(name)
  local length = host_of(name).site
  if length == 0 then return nil end
  local domain = string.sub(name, -length)
  return load_domain(domain), domain
end

-- Marks a domain as changed; with `lane`, the hosts of that lane that wait for the domain may have changed too.
local function stir(name, lane)
  stirred[name], changed[name] = stirred[name] or {}, true
  if lane then
    stirred[name][lane] = true
    if not COMMON[lane] then domains[name].own = 1 end
  end
end

-- The number of requests that may be open at a host or domain: one if its circuit is not closed.
local function allowed(paced) return paced.state == 'closed' and paced.concurrency or 1 end

local function is_open(paced, now) return paced.busy < allowed(paced) and paced.next_at <= now end

local function is_own(name) return name == 'file' or name == 'listing' or string.sub(name, 1, 5) == 'page:' end

-- All lanes in which a host or domain has a place or may get one; only those with `own` have lanes besides the common two.
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

-- The key of a place's set, nil if it has none. Hosts that wait for their domain have a set of their own (`parked`), and
-- the domain takes their place in the other sets.
local function place_key(place, lane, domain)
  if place == '' or place == 'open' then return nil end
  if place == 'parked' then return P .. 'parked:' .. lane .. ':' .. domain end
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

-- Moves a host or a domain to another place of a lane; `places` stores the place per lane.
local function move(places, name, lane, place, score, domain)
  local old = places[lane] or ''
  local from, to = place_key(old, lane, domain), place_key(place, lane, domain)
  if from and from ~= to then note_move(from, name, false) end
  if to and not (from == to and place == 'blocked') then note_move(to, name, score) end
  if place == 'ready' then risen[lane] = true end
  if old ~= place then places[lane] = place end
end

-- Puts a host into its place for each lane: `ready` by the best task's rank, `waiting` by the time of its next turn,
-- `blocked` while all its slots have open requests, `parked` while its domain must wait, or nowhere without tasks.
local function settle(name, now)
  local host, lanes = hosts[name], touched[name]
  touched[name] = nil
  for _, lane in ipairs(lanes_of(host, lanes, host.own)) do
    local old = host[lane] or ''
    if old ~= '' or lanes[lane] then
      local best = redis.call('ZRANGE', queue_key(lane, name), 0, 0, 'WITHSCORES')
      local place, score, domain, its = '', nil, nil, nil
      if host.site > 0 then domain, its = domain_of(name) end
      if best[1] then
        if host.busy >= allowed(host) then place, score = 'blocked', now
        elseif host.next_at > now then place, score = 'waiting', host.next_at
        elseif domain and not is_open(domain, now) then place, score = 'parked', best[2]
        else place, score = 'ready', best[2] end
      end
      if domain and old ~= place then
        if domain.front[lane] == name and place ~= 'ready' then
          domain.front[lane] = nil
          stir(its, lane)
        elseif old == 'parked' or place == 'parked' then stir(its, lane) end
      end
      move(host, name, lane, place, score, its)
    end
  end
end

-- Puts a domain for which hosts wait into its place: among the waiting or blocked hosts, under a name that no host can have
-- (`@…`). When the domain may be requested, the best of its hosts becomes ready, one per lane.
local function settle_domain(name, now)
  local domain, lanes = domains[name], stirred[name]
  for _, lane in ipairs(lanes_of(domain.at, lanes, domain.own)) do
    if (domain.at[lane] or '') ~= '' or lanes[lane] then
      local parked = place_key('parked', lane, name)
      write_place(parked)
      local best = redis.call('ZRANGE', parked, 0, 0)[1]
      local place, score = '', nil
      if best then
        if domain.busy >= allowed(domain) then place, score = 'blocked', now
        elseif domain.next_at > now then place, score = 'waiting', domain.next_at
        else place = 'open' end
      end
      move(domain.at, '@' .. name, lane, place, score)
      local front = domain.front[lane]
      if (place == 'open') ~= (front ~= nil) and best then -- the best host becomes ready, or the ready one is parked
        domain.front[lane] = front or best
        touch(domain.front[lane], lane)
        settle(domain.front[lane], now)
      end
    end
  end
  stirred[name] = nil
end

local function settle_all(now)
  for name in pairs(touched) do settle(name, now) end
  local name = next(stirred)
  while name do
    settle_domain(name, now)
    name = next(stirred)
  end
end

local PLACES = {ready = true, waiting = true, blocked = true, parked = true}

local function idle(host)
  if host.busy > 0 or host.tasks > 0 then return false end
  for _, value in pairs(host) do
    if PLACES[value] then return false end
  end
  return true
end

-- True if a domain's record has nothing but its next turn and its number of open requests.
local function is_plain(domain)
  for field, value in pairs(domain) do
    if field ~= 'next_at' and field ~= 'busy' and value ~= DOMAIN.__index[field]
      and (type(value) ~= 'table' or next(value)) then return false end
  end
  return true
end

-- A domain's record is kept after its last turn for as long as failures of its hosts count together; a pace set for the
-- domain or its hosts is kept for as long as ended tasks are.
local function save_domain(name, now)
  local domain = domains[name]
  for lane, place in pairs(domain.at) do
    if place == '' then domain.at[lane] = nil end
  end
  local plain = is_plain(domain)
  local text = plain and string.format('%.0f %d', domain.next_at, domain.busy) or cjson.encode(domain)
  if next(domain.at) then redis.call('SET', domain_key(name), text) -- hosts wait for it
  else
    local is_set = rawget(domain, 'delay') or rawget(domain, 'concurrency') or rawget(domain, 'hosts_delay')
    local ttl = is_set and POLICY.remember or domain.busy > 0 and POLICY.host_ttl or POLICY.together
    if domain.next_at - now > ttl then ttl = ttl + domain.next_at - now end
    redis.call('SET', domain_key(name), text, 'PX', string.format('%.0f', ttl))
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
