-- forgive: ARGV = clock, host… -> number of circuits closed. Forgets failures of hosts and domains that our own network
-- caused; a pause that a host requested (429) stays.
local function pardon(paced, delay, now)
  local was = paced.state
  if was ~= 'closed' and (rawget(paced, 'refusals') or 0) == 0 then paced.next_at = math.min(paced.next_at, now + delay) end
  paced.state, paced.failures, paced.opened = 'closed', 0, 0
  return was == 'closed' and 0 or 1
end

local function main(now)
  local closed = 0
  for i = 2, #ARGV do
    local host, domain, its = touch(ARGV[i]), domain_of(ARGV[i])
    closed = closed + pardon(host, delay_of(host, domain), now)
    host.blamed = 0
    if domain then
      closed = closed + pardon(domain, domain.delay, now)
      stir(its)
    end
  end
  return closed
end
