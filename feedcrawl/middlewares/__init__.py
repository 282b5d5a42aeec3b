"""Downloader middlewares, one concern each."""
