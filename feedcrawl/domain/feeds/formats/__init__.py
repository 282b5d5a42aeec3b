"""Dialects of feeds: recognition, repair and reading of their documents."""
