"""Spiders: feeds, sitemaps, articles, site."""
