-- push: ARGV = clock, [task JSON, delay ms, again]… -> [what became of each]
local now = clock()
local results = {}
for i = 2, #ARGV, 3 do
  local new, delay, again = cjson.decode(ARGV[i]), tonumber(ARGV[i + 1]), ARGV[i + 2]
  local old = load_task(new.id)
  local result
  if old == nil or (not pending(old) and again ~= '') then
    new.discovered_at = now
    if old then
      for _, name in ipairs({'etag', 'last_modified', 'content_hash', 'fetch_count', 'last_fetched_at', 'discovered_at'}) do
        new[name] = old[name]
      end
    end
    if again ~= '' then new.again = again end
    save_task(new)
    count('pending', new.kind, 1)
    enqueue(new, now, delay)
    result = old and 'again' or 'queued'
  elseif not pending(old) then
    result = 'known'
  elseif redis.call('HEXISTS', P .. 'holders', new.id) == 1 then
    result = 'leased'
    if again ~= '' or new.priority > old.priority then
      if again ~= '' then old.again_queued, old.payload, result = again, new.payload or old.payload, 'again' end
      old.priority = math.max(old.priority, new.priority)
      save_task(old)
    end
  elseif again ~= '' then
    dequeue(old, now)
    old.again, old.priority = again, math.max(old.priority, new.priority)
    old.payload = new.payload or old.payload
    save_task(old)
    enqueue(old, now, delay)
    result = 'again'
  elseif new.priority > old.priority then
    -- What waits keeps its place in time; only its rank improves.
    local lane = lane_of(old.kind)
    local due = redis.call('ZSCORE', P .. 'delayed:' .. lane, delayed_member(old))
    local queued = redis.call('ZSCORE', queue_key(lane, old.host), old.id)
    dequeue(old, now)
    local raised = new.priority - old.priority
    old.priority = new.priority
    save_task(old)
    if due then
      redis.call('ZADD', P .. 'delayed:' .. lane, due, delayed_member(old))
    else
      redis.call('ZADD', queue_key(lane, old.host), tonumber(queued or now) - raised * HOUR, old.id)
      settle(old.host, now)
    end
    result = 'raised'
  else
    result = 'pending'
  end
  results[#results + 1] = result
end
return results
