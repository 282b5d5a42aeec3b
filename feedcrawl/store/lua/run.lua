-- The end of every script: its main, then the hosts that it touched.
local now = clock()
local answer = main(now)
for name in pairs(touched) do settle(name, now) end
for name in pairs(hosts) do save_host(name) end
return answer
