-- strays: ARGV = clock, worker's nonce, tokens that the worker holds… -> number of its other leases given back A worker
-- does not know of a lease if the reply of its `take` was lost, or if the server lost the lease's end (killed before the
-- end was in the append-only file). The result of such a task is unknown: it is due again, without a counted attempt.
local nonce = ARGV[2]

local function main(now)
  local known, returned = {}, 0
  for i = 3, #ARGV do known[ARGV[i]] = true end
  local holders = redis.call('HGETALL', P .. 'holders')
  for i = 1, #holders, 2 do
    local id, token = holders[i], string.match(holders[i + 1], '^%S+')
    if string.sub(token, -#nonce) == nonce and not known[token] then
      drop_lease(id, holder_of(id), now)
      local task = load_task(id)
      if task and pending(task) then
        renew(task)
        save_task(task)
        enqueue(task, now, 0)
        returned = returned + 1
      end
    end
  end
  return returned
end
