"""Subscribed feeds and their entries in Redis."""
