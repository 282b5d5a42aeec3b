"""Discovery of a site's feeds: links of a page that lead to feeds, and the choice among them."""

from __future__ import annotations

from feedcrawl.domain.discovery.links import COMMON_PATHS, MAX_LINKS, feed_like_links, find_feeds, page_links

__all__ = ["COMMON_PATHS", "MAX_LINKS", "feed_like_links", "find_feeds", "page_links"]
