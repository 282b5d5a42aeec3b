-- forgive: ARGV = clock, host… -> number of circuits closed. Forgets failures of hosts and scopes that our own network
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
    local host, its = touch(ARGV[i]), scopes_of(ARGV[i])
    closed = closed + pardon(host, delay_of(host, its), now)
    host.blamed = 0
    for _, scope in ipairs(its) do
      closed = closed + pardon(scope, scope.delay, now)
      stir(scope)
    end
  end
  return closed
end
