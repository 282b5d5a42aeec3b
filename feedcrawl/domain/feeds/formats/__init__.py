"""Dialects of feeds: recognising, repairing and parsing their documents."""
