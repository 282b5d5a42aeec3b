"""Names things by their canonical URL (step 1). From here on an item is known by its uid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from feedcrawl import wiring
from feedcrawl.domain.urls import canonicalize
from feedcrawl.exceptions import LeaseLost
from feedcrawl.items import Article
from feedcrawl.services import articles

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from feedcrawl.services.leases import Leases


class CanonicalizePipeline:
    """Gives an article its canonical URL and uid; drops what belongs to a lease that is no longer ours."""

    def __init__(self, leases: Leases) -> None:
        self._leases = leases

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's leases."""
        return cls(wiring.of(crawler).leases)

    def process_item(self, item: Any) -> Any:
        """The item, named."""
        lease = getattr(item, "lease", None)
        if lease is not None and not getattr(item, "ended", False) and not self._leases.confirms(lease):
            raise LeaseLost(lease)
        if isinstance(item, Article):
            self._name(item)
        return item

    def _name(self, article: Article) -> None:
        payload, task = article.lease.task.payload, article.lease.task
        keep = articles.keeps_slash(task)
        first = [task.category] if task.category else []
        article.categories = list(dict.fromkeys([*first, *payload.get("categories", ())]))
        if article.extraction is None:
            article.uid, article.canonical_url = task.id, canonicalize(article.url, keep_trailing_slash=keep)
            return
        named = article.extraction.canonical_url
        final = article.final_url or article.url
        article.canonical_url, article.uid = articles.identify(article.url, final, named, keep_trailing_slash=keep)
        article.content_hash = articles.content_hash(article.extraction.text)
