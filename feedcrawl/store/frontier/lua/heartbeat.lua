-- heartbeat: ARGV = clock, [id, token]… -> ids whose lease was lost
local function main(now)
  local lost = {}
  for i = 2, #ARGV, 2 do
    if leased_by(ARGV[i], ARGV[i + 1]) then redis.call('ZADD', P .. 'leases', 'XX', now + POLICY.lease, ARGV[i])
    else lost[#lost + 1] = ARGV[i] end
  end
  return lost
end
