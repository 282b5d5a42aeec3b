"""Stored data, in Redis and on disk: one module for each kind of record."""
