"""Feeds of every format, read from their bytes."""
