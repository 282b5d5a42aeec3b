-- visit: ARGV = clock, id, token, host, site -> 0 if the host's turn is taken, under a lease without a task, or the ms
-- until the next try. Used for requests that a page needs from another host (its robots.txt, the target of a redirect).
local id, token, name, site = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local LOOK = 200 -- ms, if a response of the host is still being read

local function main(now)
  local host = touch(name)
  place_in_domain(name, site)
  local domain, its = domain_of(name)
  if host.state ~= 'closed' or domain and domain.state ~= 'closed' then return POLICY.lease end -- the probe goes first
  local wait = math.max(host.next_at, domain and domain.next_at or 0) - now
  if wait > 0 then return math.ceil(wait) end
  if not is_open(host, now) or domain and not is_open(domain, now) then return LOOK end
  occupy(host, domain, its, now)
  redis.call('HSET', P .. 'holders', id, token .. ' 1 ' .. name)
  redis.call('ZADD', P .. 'leases', now + POLICY.lease, id)
  return 0
end
