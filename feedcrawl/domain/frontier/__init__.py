"""Rules of the frontier: tasks, priorities, outcomes, dead letters, shards."""
