"""Watches sitemaps, for the spider's argument, for sources and for indexes."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.sitemaps.state import Sitemap
from feedcrawl.domain.sitemaps.tasks import sitemap_task, task_id
from feedcrawl.domain.sites.site_search import MAX_NAMED, SITEMAP_PATHS
from feedcrawl.domain.subscriptions.specs import Refused, SubscriptionSpec
from feedcrawl.domain.urls import resolve
from feedcrawl.services.subscriptions.finding import url_key, with_scheme

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from feedcrawl.domain.frontier.tasks import Again
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.sites.sitemaps import Sitemaps

GUESSES: Final = SITEMAP_PATHS[:2]


def sitemaps_from(specs: Iterable[SubscriptionSpec], now: datetime) -> tuple[list[Sitemap], list[Refused]]:
    """The sitemaps to watch for these specs, and the refused specs: a bad URL stops no other."""
    found, refused = [], []
    for spec in specs:
        try:
            url = resolve(with_scheme(spec.url))
        except InvalidUrl as error:
            refused.append(Refused(spec.url, error.code, error.detail))
        else:
            categories = tuple(dict.fromkeys(spec.categories))
            found.append(Sitemap(str(uuid.uuid4()), url, categories, added_at=rfc3339(now), **spec.fields))
    return found, refused


def watch(store: Sitemaps, frontier: Frontier, sitemaps: Sequence[Sitemap], *, again: Again = "") -> list[str]:
    """Watch each sitemap, once for all spellings of its URL; the ids in order. New sitemaps are due at once.

    A sitemap that is already watched keeps its settings (`settle_settings`).
    """
    ids = store.add([(each, url_key(each.url)) for each in sitemaps])
    frontier.enqueue(
        [sitemap_task(replace(each, id=own)) for each, own in zip(sitemaps, ids, strict=True)], again=again
    )
    return ids


def settle_settings(store: Sitemaps, sitemaps: Sequence[Sitemap], ids: Sequence[str]) -> None:
    """Give sitemaps that are already watched the categories that they lack, and the settings of a source."""
    known = store.load(ids)
    for new, own in zip(sitemaps, ids, strict=True):
        old = known[own].sitemap
        categories = tuple(dict.fromkeys((*old.categories, *new.categories)))
        renewed = replace(new, id=old.id, added_at=old.added_at, root=old.root, root_url=old.root_url, depth=old.depth)
        settled = replace(renewed if new.source else old, categories=categories, guess=False)
        if settled != old:
            store.save(settled)


def forget(store: Sitemaps, frontier: Frontier, sitemap: Sitemap) -> bool:
    """Delete a sitemap, its task, and the parts found below it; the articles that it brought stay."""
    parts = store.load(list(store.tree(sitemap.id)))
    for each in (*(part.sitemap for part in parts.values()), sitemap):
        frontier.remove(task_id(each.id))
        gone = store.remove(each, url_key(each.url))
    return gone


def of_site(page: Sitemap, named: Sequence[str], now: datetime) -> list[Sitemap]:
    """The sitemaps of a site, given one of its pages: those that its robots.txt names, and the usual addresses."""
    sitemaps: dict[str, Sitemap] = {}
    guesses = [resolve(path, page.url) for path in GUESSES]
    for url in (*named[:MAX_NAMED], *guesses):
        try:
            address = resolve(url, page.url)
        except InvalidUrl:
            continue
        new = replace(page, id=str(uuid.uuid4()), url=address, added_at=rfc3339(now), guess=url in guesses)
        sitemaps.setdefault(url_key(address), new)
    return list(sitemaps.values())
