"""A feed-driven crawler on Scrapy: polls feeds, fetches the articles they name, keeps each one once.

`parse` reads a feed and `extract` an article (docs/embedding.md). They are imported at their first use (PEP 562), since
every command imports this package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from feedcrawl.library import extract, parse

__version__ = "0.1.0"
__all__ = ["extract", "parse"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("feedcrawl.library"), name)
