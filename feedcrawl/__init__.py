"""A feed-driven crawler on Scrapy: polls feeds, fetches the articles they name, keeps each one once."""

__version__ = "0.1.0"
