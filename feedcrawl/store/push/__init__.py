"""WebSub subscriptions in Redis."""
