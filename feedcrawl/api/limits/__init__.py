"""Limits for callers of the API: connections, requests, bytes, concurrent work."""
