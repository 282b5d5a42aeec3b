-- The twin of tests/site/host_pace.py `effective_delay`. A host's own delay (Crawl-delay) goes before the one that is set for
-- all hosts of its domain (a source's setting), and that before the default.
local function delay_of(host, domain)
  local delay = rawget(host, 'delay') or domain and domain.hosts_delay or host.delay
  return math.min(delay * 2 ^ host.doublings, math.max(delay, 120000))
end

-- A domain's default delay never makes its hosts slower than their own delay; only a configured delay does.
local function domain_delay(domain, delay)
  if POLICY.domain_delay_stands or rawget(domain, 'delay') then return domain.delay end
  return math.min(domain.delay, delay)
end

-- The twin of tests/site/host_pace.py `reserve_both`: takes the next turn of a host and of its domain; returns the time of
-- that turn.
local function reserve(host, domain, now)
  local at, delay = math.max(now, host.next_at, domain and domain.next_at or 0), delay_of(host, domain)
  host.next_at = at + delay
  if domain then domain.next_at = at + domain_delay(domain, delay) end
  return at
end

-- Takes a turn and a slot of a host and of its domain.
local function occupy(host, domain, its, now)
  reserve(host, domain, now)
  host.busy = host.busy + 1
  if domain then
    domain.busy = domain.busy + 1
    stir(its)
  end
end

-- If only one request may be open, the delay runs from the end of the response.
local function rest(paced, delay, now)
  if paced.concurrency == 1 then paced.next_at = math.max(paced.next_at, now + delay) end
end

-- Frees the slot at the host and at its domain, if the holder still has one.
local function free_slot(holder, now)
  if not holder.slot then return end
  local host, domain, its = touch(holder.host), domain_of(holder.host)
  local delay = delay_of(host, domain)
  host.busy = math.max(0, host.busy - 1)
  rest(host, delay, now)
  if domain then
    domain.busy = math.max(0, domain.busy - 1)
    rest(domain, domain_delay(domain, delay), now)
    stir(its)
  end
end

local function drop_lease(id, holder, now)
  free_slot(holder, now)
  dropped[#dropped + 1] = id
end
