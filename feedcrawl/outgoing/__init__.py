"""The ways out of this machine: local addresses and proxies, for the crawler's requests and the browser's."""
