-- The end of every script: runs its main, then settles and writes the hosts and scopes that main changed.
local now = clock()
local answer = main(now)
settle_all(now)
write_places()
remove_dropped()
save_counts()
for name in pairs(hosts) do save_host(name, now) end
for scope in pairs(changed) do save_scope(scope, now) end
return answer
