"""Watched sitemaps as operators see them: found, listed, explained, polled at once. Imports little."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl.domain.cadence.reasons import in_words_or_none, proposals
from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.operations.counters import GOOD_POLLS
from feedcrawl.domain.sitemaps.tasks import sitemap_task
from feedcrawl.domain.urls import hostname
from feedcrawl.services.subscriptions.finding import url_key, with_scheme

if TYPE_CHECKING:
    from collections.abc import Iterable

    from feedcrawl.config import Config
    from feedcrawl.domain.sitemaps.state import Watched
    from feedcrawl.domain.subscriptions.sitemap_records import SitemapPublicRecord, SitemapWhyRecord
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.sites.sitemaps import Sitemaps


@dataclass(frozen=True, slots=True)
class SitemapFilter:
    """A filter for sitemaps: every given condition must hold. `root` is the sitemap at the top of a tree.

    `parts`: False leaves out the parts of indexes. `failing`: True for sitemaps whose last poll failed, False for the
    others.
    """

    category: str | None = None
    source: str | None = None
    host: str | None = None
    root: str | None = None
    parts: bool = True
    failing: bool | None = None

    def matches(self, watched: Watched) -> bool:
        """True if a sitemap matches the filter."""
        sitemap = watched.sitemap
        return (
            (self.category is None or self.category in sitemap.categories)
            and self.source in (None, sitemap.source)
            and (self.host is None or hostname(sitemap.url) == self.host.lower())
            and self.root in (None, sitemap.root)
            and (self.parts or not sitemap.depth)
            and (self.failing is None or self.failing is not is_good(watched))
        )


def is_good(watched: Watched) -> bool:
    """True if the last poll did not fail."""
    return watched.record.last_result is None or watched.record.last_result in GOOD_POLLS


def find(store: Sitemaps, name: str) -> Watched | None:
    """The sitemap with this id, or with any spelling of this URL; None if there is none."""
    try:
        sitemap_id = store.by_url(url_key(with_scheme(name))) or name
    except InvalidUrl:
        sitemap_id = name
    return store.load([sitemap_id]).get(sitemap_id)


def one(store: Sitemaps, sitemap_id: str) -> Watched:
    """The sitemap with this id; raises Refusal (`not_watched`) if there is none."""
    found = store.load([sitemap_id]).get(sitemap_id)
    if found is None:
        raise Refusal("not_watched", "there is no sitemap with this id: it may have been dropped")
    return found


def poll_now(frontier: Frontier, sitemaps: Iterable[Watched]) -> None:
    """Make sitemaps due at once, whatever their schedule."""
    frontier.enqueue([sitemap_task(each.sitemap) for each in sitemaps], again="operator")


def public(watched: Watched, config: Config) -> SitemapPublicRecord:
    """A sitemap as programs read it."""
    sitemap, polls = watched.sitemap, watched.record
    shortest = sitemap.min_interval_sec or config.sitemap_interval_sec
    return {
        "id": sitemap.id,
        "url": sitemap.url,
        "kind": polls.kind,  # type: ignore[typeddict-item]  # the words of domain.sitemaps.documents
        "categories": list(sitemap.categories),
        "source": sitemap.source,
        "priority": sitemap.priority,
        "root": sitemap.root,
        "depth": sitemap.depth,
        "is_guess": sitemap.guess,
        "added_at": sitemap.added_at,
        "validators": {"etag": polls.etag, "last_modified": polls.last_modified},
        "schedule": {
            "interval_sec": None if polls.interval_sec is None else round(polls.interval_sec),
            "min_interval_sec": round(shortest),
            "max_interval_sec": round(max(sitemap.max_interval_sec or config.max_interval_sec, shortest)),
            "next_at": polls.next_at,
            "reason": polls.reason,
        },
        "stats": {
            "last_fetch_at": polls.last_fetch_at,
            "last_success_at": polls.last_success_at,
            "last_status": polls.last_status,
            "last_result": polls.last_result,
            "consecutive_failures": polls.cadence_state.errors,
            "last_item_count": polls.urls,
            "waiting": polls.waiting,
            "news_at": polls.news_at,
        },
    }


def explained(watched: Watched) -> SitemapWhyRecord:
    """The next poll, and each rule with the wait that it proposed."""
    polls = watched.record
    return {
        "id": watched.id,
        "url": watched.sitemap.url,
        "next_at": polls.next_at,
        "interval_sec": polls.interval_sec,
        "reason": polls.reason,
        "because": in_words_or_none(polls.reason),
        "candidates": proposals(polls.reason, polls.candidates),
        "last_fetch_at": polls.last_fetch_at,
        "last_success_at": polls.last_success_at,
        "last_result": polls.last_result,
        "last_status": polls.last_status,
        "consecutive_failures": polls.cadence_state.errors,
        "last_item_count": polls.urls,
        "waiting": polls.waiting,
    }
