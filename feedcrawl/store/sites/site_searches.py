"""Results of searches for a site's feed and sitemaps, by the page from which each search began."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from feedcrawl.domain.frontier.tasks import compact
from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.domain.sites.site_search import SourceSearchedRecord
    from feedcrawl.store.redis.client import Client


class SiteSearches:
    """The last result of each search. Methods may raise StoreUnavailable."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def find(self, page_keys: Sequence[str]) -> dict[str, SourceSearchedRecord]:
        """The results for these pages; pages that were not searched are left out."""
        texts = self._client.hmget(keys.SITE_SEARCHES, page_keys) if page_keys else []
        return {key: json.loads(text) for key, text in zip(page_keys, texts, strict=True) if text}

    def all(self) -> list[SourceSearchedRecord]:
        """All results, by the name of their source."""
        found: list[SourceSearchedRecord] = [json.loads(text) for text in self._client.hvals(keys.SITE_SEARCHES)]
        return sorted(found, key=lambda each: each["source"])

    def save(self, page_key: str, result: SourceSearchedRecord) -> None:
        """Stores the result of a search."""
        self._client.hset(keys.SITE_SEARCHES, page_key, compact(dict(result)))

    def drop(self, page_key: str) -> None:
        """Removes the result of a search."""
        self._client.hdel(keys.SITE_SEARCHES, page_key)
