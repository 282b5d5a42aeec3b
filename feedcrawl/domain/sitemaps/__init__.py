"""Sitemaps: their documents, what is new in them, and the state kept of each."""

from __future__ import annotations

from feedcrawl.domain.sitemaps.documents import COMMON_PATHS, MAX_SITEMAPS, MAX_URLS, parse

__all__ = ["COMMON_PATHS", "MAX_SITEMAPS", "MAX_URLS", "parse"]
