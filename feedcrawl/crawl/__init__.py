"""Scrapy components of this crawler: scheduler, resolver, download handlers, robots gate and safe settings."""
