"""The HTTP API: a process of its own (`scrapy api`) that serves what the use cases answer, and never dials anyone."""
