-- visit: ARGV = clock, id, token, host, site -> 0 and the host's turn is taken under a lease of no task, or the ms after which
-- it is worth asking again. What a page needs of another host (a robots.txt, what it redirects to) is asked so.
local id, token, name, site = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local LOOK = 200 -- at a host whose answer someone is still reading

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
