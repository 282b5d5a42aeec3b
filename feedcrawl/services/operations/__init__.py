"""Use cases of operators and consumers: readiness, statistics, relay, events, tokens, inputs."""
