"""Feeds of every format, read from their bytes."""

from __future__ import annotations

from feedcrawl.domain.feeds.document import parse

__all__ = ["parse"]
