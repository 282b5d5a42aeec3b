"""Sitemaps: their documents, their new URLs, and the stored state of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.public_names import imported_later

if TYPE_CHECKING:
    from feedcrawl.domain.sitemaps.documents import COMMON_PATHS, MAX_SITEMAPS, MAX_URLS, parse

__all__ = ["COMMON_PATHS", "MAX_SITEMAPS", "MAX_URLS", "parse"]

if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
    __getattr__ = imported_later(__name__)
