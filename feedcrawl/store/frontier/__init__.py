"""The frontier in Redis: tasks, leases, hosts, dead letters, and all Lua scripts."""
