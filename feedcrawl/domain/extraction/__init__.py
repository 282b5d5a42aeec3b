"""The article on a page: a ladder of extractors for its body, its metadata, and walls that stand in its place."""

from __future__ import annotations

from feedcrawl.domain.extraction.ladder import extract
from feedcrawl.domain.extraction.reading import PageReading, read_article

__all__ = ["PageReading", "extract", "read_article"]
