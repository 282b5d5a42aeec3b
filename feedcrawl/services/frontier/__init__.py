"""Use cases of the frontier: leases, ends of tasks, requests, listings."""
