"""Discovery of a site's feeds: links of a page that lead to feeds, and the choice among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.public_names import imported_later

if TYPE_CHECKING:
    from feedcrawl.domain.discovery.links import COMMON_PATHS, MAX_LINKS, feed_like_links, find_feeds, page_links

__all__ = ["COMMON_PATHS", "MAX_LINKS", "feed_like_links", "find_feeds", "page_links"]

if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
    __getattr__ = imported_later(__name__)
