"""WebSub subscriptions and deliveries in Redis."""
