"""The connection to Redis, the embedded server, and every key's name."""
