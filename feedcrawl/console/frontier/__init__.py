"""Commands about tasks and dead letters."""
