"""Rules about sites: sources with their settings, links worth following."""
