"""Tokens, event streams, series and cached responses in Redis."""
