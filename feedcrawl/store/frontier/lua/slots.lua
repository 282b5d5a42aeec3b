-- The twin of tests/site/host_pace.py `effective_delay`. A host's own delay (Crawl-delay) goes before the one that is set for
-- all hosts of its narrowest scope (a source's setting), and that before the default.
local function delay_of(host, its)
  local delay = rawget(host, 'delay')
  for i = 1, #its do delay = delay or its[i].hosts_delay end
  delay = delay or host.delay
  return math.min(delay * 2 ^ host.doublings, math.max(delay, 120000))
end

-- A scope's default delay never makes its hosts slower than their own delay; only a configured delay does.
local function shared_delay(scope, delay)
  if scope.delay_stands or rawget(scope, 'delay') then return scope.delay end
  return math.min(scope.delay, delay)
end

-- The twin of tests/site/host_pace.py `reserve_both`: takes the next turn of a host and of its scopes; returns the time of
-- that turn.
local function reserve(host, its, now)
  local at, delay = math.max(now, host.next_at), delay_of(host, its)
  for i = 1, #its do at = math.max(at, its[i].next_at) end
  host.next_at = at + delay
  for i = 1, #its do its[i].next_at = at + shared_delay(its[i], delay) end
  return at
end

-- Takes a turn and a slot of a host and of its scopes.
local function occupy(host, its, now)
  reserve(host, its, now)
  host.busy = host.busy + 1
  for i = 1, #its do
    its[i].busy = its[i].busy + 1
    stir(its[i])
  end
end

-- If only one request may be open, the delay runs from the end of the response.
local function rest(paced, delay, now)
  if paced.concurrency == 1 then paced.next_at = math.max(paced.next_at, now + delay) end
end

-- The delays of a host and its scopes run from now on, where one request may be open at a time.
local function rest_all(host, its, now)
  local delay = delay_of(host, its)
  rest(host, delay, now)
  for i = 1, #its do
    rest(its[i], shared_delay(its[i], delay), now)
    stir(its[i])
  end
end

-- Frees the slot at the host and at its scopes, if the holder still has one.
local function free_slot(holder, now)
  if not holder.slot then return end
  local host, its = touch(holder.host), scopes_of(holder.host)
  host.busy = math.max(0, host.busy - 1)
  for i = 1, #its do its[i].busy = math.max(0, its[i].busy - 1) end
  rest_all(host, its, now)
end

local function drop_lease(id, holder, now)
  free_slot(holder, now)
  dropped[#dropped + 1] = id
end
