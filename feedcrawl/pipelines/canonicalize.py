"""Gives articles their canonical URL (step 1). The later steps identify an article by its uid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from feedcrawl import wiring
from feedcrawl.exceptions import LeaseLost
from feedcrawl.items import Article
from feedcrawl.services.articles import publication

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from feedcrawl.services.frontier.leases import Leases


class CanonicalizePipeline:
    """Gives an article its canonical URL and uid; drops an item whose lease this worker has lost."""

    def __init__(self, leases: Leases) -> None:
        self._leases = leases

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's leases."""
        return cls(wiring.of(crawler).leases)

    def process_item(self, item: object) -> object:
        """The item; an article has its canonical URL and uid. Raises LeaseLost."""
        lease = getattr(item, "lease", None)
        if lease is not None and not getattr(item, "ended", False) and not self._leases.confirms(lease):
            raise LeaseLost(lease)
        if isinstance(item, Article):
            publication.name(item)
        return item
