"""What callers may make the API do at most: connections, requests, bytes, work at a time."""
