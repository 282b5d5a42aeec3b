"""The article on a page: a ladder of extractors for its body, its metadata, and walls that stand in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.public_names import imported_later

if TYPE_CHECKING:
    from feedcrawl.domain.extraction.ladder import extract
    from feedcrawl.domain.extraction.reading import PageReading, read_article

__all__ = ["PageReading", "extract", "read_article"]

if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
    __getattr__ = imported_later(__name__)
