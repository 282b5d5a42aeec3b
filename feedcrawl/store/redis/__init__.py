"""The connection to Redis, the embedded server, and the names of all keys."""
