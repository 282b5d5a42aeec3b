"""The results of searches for the feeds and sitemaps of sites, for readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.sites.site_search import page_key
from feedcrawl.services.subscriptions.finding import with_scheme

if TYPE_CHECKING:
    from feedcrawl.domain.sites.site_search import SourceSearchedRecord
    from feedcrawl.store.sites.site_searches import SiteSearches


def find(searches: SiteSearches, name: str) -> SourceSearchedRecord | None:
    """The last search from a page, or of the source with this name; None if there was none."""
    try:
        key = page_key(with_scheme(name))
    except InvalidUrl:
        key = name
    named = (each for each in searches.all() if each["source"] == name)
    return searches.find([key]).get(key) or next(named, None)
