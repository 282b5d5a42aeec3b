-- strays: ARGV = clock, worker's nonce, tokens that it holds… -> how many of its other leases were returned
-- A worker does not know of a lease whose `take` was not answered, nor of one whose end the server has lost again (killed
-- before the end was in its append-only file). What happened to such a task is not known: it comes again, at no cost.
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
