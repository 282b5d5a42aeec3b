-- The end of every script: runs its main, then settles and writes the hosts and domains that main changed.
local now = clock()
local answer = main(now)
settle_all(now)
write_places()
remove_dropped()
save_counts()
for name in pairs(hosts) do save_host(name, now) end
for name in pairs(changed) do save_domain(name, now) end
return answer
