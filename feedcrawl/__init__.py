"""A feed-driven crawler on Scrapy: polls feeds, fetches the articles they name, keeps each one once.

`parse` reads a feed and `extract` an article (docs/embedding.md). They are imported at their first use (PEP 562), since
every command imports this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.public_names import imported_later

if TYPE_CHECKING:
    from feedcrawl.library import extract, parse

__version__ = "0.1.0"
__all__ = ["extract", "parse"]

if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
    __getattr__ = imported_later(__name__)
