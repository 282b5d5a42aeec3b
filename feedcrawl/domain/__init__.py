"""Decisions: values in, values out. No Scrapy, Redis, network, clock, chance or logging in here."""
