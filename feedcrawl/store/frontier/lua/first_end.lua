-- first_end: ARGV = clock -> ms until the first of all leases ends (0: it has ended); -1 if there is none
local function main(now)
  local first = redis.call('ZRANGE', P .. 'leases', 0, 0, 'WITHSCORES')
  return first[1] and math.max(0, tonumber(first[2]) - now) or -1
end
