-- visit: ARGV = clock, id, token, host, its scopes -> 0 if the host's turn is taken, under a lease without a task, or the ms
-- until the next try. Used for requests that a page needs from another host (its robots.txt, the target of a redirect).
local id, token, name = ARGV[2], ARGV[3], ARGV[4]
local LOOK = 200 -- ms, if a response of the host is still being read

local function main(now)
  local host = touch(name)
  place_in_scopes(name, ARGV, 5)
  local its, wait = scopes_of(name), 0
  for _, paced in ipairs({host, unpack(its)}) do
    if paced.state ~= 'closed' then return POLICY.lease end -- the probe goes first
    wait = math.max(wait, paced.next_at - now)
  end
  if wait > 0 then return math.ceil(wait) end
  if not is_open(host, now) or shut_scope(its, now) then return LOOK end
  occupy(host, its, now)
  redis.call('HSET', P .. 'holders', id, token .. ' 1 ' .. name)
  redis.call('ZADD', P .. 'leases', now + POLICY.lease, id)
  return 0
end
