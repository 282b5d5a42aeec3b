"""The HTTP API: a process of its own (`scrapy api`) that calls the use cases and makes no outgoing requests."""
