"""Commands about subscriptions: list, explain, add, remove, export."""
