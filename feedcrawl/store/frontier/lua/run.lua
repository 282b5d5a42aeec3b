-- The end of every script: its main, then the hosts and domains that it touched.
local now = clock()
local answer = main(now)
settle_all(now)
for name in pairs(hosts) do save_host(name, now) end
for name in pairs(changed) do save_domain(name, now) end
return answer
