"""Searches the sites of sources for the feed and the sitemaps that they do not name: the task, and the result."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.frontier.priority import priority
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.operations.events import Event, event
from feedcrawl.domain.sites.site_search import is_empty, is_sought, lacking, page_key, tried_in_words
from feedcrawl.domain.subscriptions.specs import Refused, SubscriptionSpec
from feedcrawl.domain.urls import hostname
from feedcrawl.services.sites import watching
from feedcrawl.services.subscriptions import registering
from feedcrawl.services.subscriptions.finding import url_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from feedcrawl.domain.sites.site_search import Sought, SourceSearchedRecord, Tried
    from feedcrawl.domain.sites.sources import Source
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.sites.site_searches import SiteSearches
    from feedcrawl.store.sites.sitemaps import Sitemaps
    from feedcrawl.store.subscriptions.registry import Registry

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SourceStores:
    """The stores in which sources take effect."""

    registry: Registry
    sitemaps: Sitemaps
    searches: SiteSearches
    frontier: Frontier
    now: Callable[[], datetime]
    again_sec: float = 7 * 86_400.0
    """Time after which a page behind which nothing was found is searched again."""


def without_feeds(
    sources: Iterable[Source], searches: SiteSearches
) -> list[tuple[Source, SourceSearchedRecord | None]]:
    """The sources of whose site neither a feed nor a sitemap is known, each with its search; None before the first
    search.
    """
    searched = [each for each in sources if lacking(each)]
    known = searches.find([page_key(each.base_url) for each in searched])
    results = ((each, known.get(page_key(each.base_url))) for each in searched)
    return [(each, found) for each, found in results if is_empty(each, found)]


def search_task(source: Source) -> Task:
    """The one task that searches a source's site."""
    digest = hashlib.sha1(page_key(source.base_url).encode(), usedforsecurity=False).hexdigest()
    rank = priority(source.priority, "manual")
    return Task(
        f"site_search:{digest[:16]}",
        "site_search",
        source.base_url,
        hostname(source.base_url),
        rank,
        source=source.name,
    )


def sync(source: Source, stores: SourceStores) -> list[Refused]:
    """Enqueue the search of a source's site unless its result is stored; give what was found the settings of the
    source. A feed or sitemap that an operator has dropped since stays dropped.
    """
    kinds = lacking(source)
    if not kinds:
        return []
    known = stores.searches.find([page_key(source.base_url)]).get(page_key(source.base_url))
    unsought = [each for each in kinds if not is_sought(each, known)]
    if unsought or is_empty(source, known):
        task = search_task(source)
        if stores.frontier.enqueue([task]) == ["known"] and unsought:  # searched for the rest, or on another server
            stores.frontier.enqueue([task], again="operator")
    if known is None:
        return []
    feeds = [url for url in known["feeds"] if stores.registry.by_url(url_key(url)) is not None]
    sitemaps = [url for url in known["sitemaps"] if stores.sitemaps.by_url(url_key(url)) is not None]
    found = (feeds if "feed" in kinds else (), sitemaps if "sitemap" in kinds else ())
    return subscribe(source, *found, stores)


def subscribe(source: Source, feeds: Sequence[str], sitemaps: Sequence[str], stores: SourceStores) -> list[Refused]:
    """Subscribe feeds and sitemaps, each with the source's settings, which override settings made elsewhere."""
    now = stores.now()
    bounds = {
        "initial_interval_sec": source.poll_interval_sec,
        "min_interval_sec": source.min_interval_sec,
        "max_interval_sec": source.max_interval_sec,
    }
    _, refused = registering.subscribe_all(stores.registry, stores.frontier, _specs(source, feeds, bounds), now)
    bounds = {"min_interval_sec": source.sitemap_interval_sec, "max_interval_sec": source.max_interval_sec}
    watched, bad = watching.sitemaps_from(_specs(source, sitemaps, bounds), now)
    watching.settle_settings(stores.sitemaps, watched, watching.watch(stores.sitemaps, stores.frontier, watched))
    return [*refused, *bad]


def _specs(source: Source, urls: Iterable[str], bounds: dict[str, float | None]) -> list[SubscriptionSpec]:
    fields = {"source": source.name, "priority": source.priority, **bounds}
    return [SubscriptionSpec(url, source.categories, fields=fields) for url in urls]


def without_pages(sitemap_urls: Sequence[str], stores: SourceStores) -> list[str]:
    """The addresses of sitemaps of a source; a page that has given way to the sitemaps of its site is replaced by those
    of them that are still watched, so that the page is requested once and not at every start. A page behind which
    nothing was found is requested again after `again_sec`.
    """
    since = rfc3339(stores.now() - timedelta(seconds=stores.again_sec))
    searched = stores.searches.find([page_key(url) for url in sitemap_urls])
    ended = {key: each for key, each in searched.items() if is_sought("sitemap", each)}
    known = {key: each for key, each in ended.items() if each["sitemaps"] or each["at"] > since}
    found = [known[key]["sitemaps"] if (key := page_key(url)) in known else [url] for url in sitemap_urls]
    named = set(sitemap_urls)
    return [url for urls in found for url in urls if url in named or stores.sitemaps.by_url(url_key(url)) is not None]


def drop_guess(stores: SourceStores, gone: Tried) -> None:
    """Take an address that is no sitemap out of the results of searches; log a page that a source names for its
    sitemaps, if this was the last address tried in its place.
    """
    for found in stores.searches.all():
        if gone["url"] in found["sitemaps"]:
            left = [url for url in found["sitemaps"] if url != gone["url"]]
            tried = [*found["tried"], gone]
            stores.searches.save(page_key(found["url"]), {**found, "sitemaps": left, "tried": tried})
            if left:
                continue
            detail = f"no sitemap was found; tried: {tried_in_words(tried)}"
            details = {"source": found["source"], "url": found["url"], "detail": detail}
            logger.warning("source_nothing_found", extra=details)


def result(
    source: Source,
    at: datetime,
    sought: Sequence[Sought],
    *,
    feeds: Sequence[str] = (),
    sitemaps: Sequence[str] = (),
    tried: Sequence[Tried] = (),
) -> SourceSearchedRecord:
    """The result of a search, as it is stored and published."""
    return {
        "source": source.name,
        "url": source.base_url,
        "at": rfc3339(at),
        "sought": list(sought),
        "feeds": list(feeds),
        "sitemaps": list(sitemaps),
        "tried": list(tried),
    }


def searched_event(found: SourceSearchedRecord) -> Event:
    """The event of a search that has ended."""
    return event("source_searched", f"{found['source']}:{found['at']}", found)
