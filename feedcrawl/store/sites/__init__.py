"""Sitemaps, sources and runs of site spiders in Redis."""
