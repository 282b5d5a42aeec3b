"""Decisions as pure functions of values: no Scrapy, Redis, network, clock, randomness or logging."""
