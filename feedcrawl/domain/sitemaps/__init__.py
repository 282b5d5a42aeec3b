"""Sitemaps: their documents, their new URLs, and the stored state of each."""

from __future__ import annotations

from feedcrawl.domain.sitemaps.documents import COMMON_PATHS, MAX_SITEMAPS, MAX_URLS, parse

__all__ = ["COMMON_PATHS", "MAX_SITEMAPS", "MAX_URLS", "parse"]
