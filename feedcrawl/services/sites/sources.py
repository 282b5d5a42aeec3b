"""The sources in use: those of the operator's file, read once at the start, and those stored over the API.

A name that the file uses belongs to the file. `sync` brings sources into the frontier.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.sites.source_records import changed, source_record
from feedcrawl.domain.sites.sources import BadSources, Source, read_source, read_sources
from feedcrawl.domain.urls import hostname, registered_domain, same_site
from feedcrawl.services.sites import watching
from feedcrawl.services.subscriptions import finding, registering
from feedcrawl.services.subscriptions.registering import Wish

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from feedcrawl.domain.models import SourceRules
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.sites.sitemaps import Sitemaps
    from feedcrawl.store.sites.sources import SaidSources
    from feedcrawl.store.subscriptions.registry import Registry

logger = logging.getLogger(__name__)

Sources = dict[str, Source]
"""Sources by name."""


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores in which sources take effect."""

    registry: Registry
    sitemaps: Sitemaps
    frontier: Frontier
    now: Callable[[], datetime]


def load(path: Path | None) -> Sources:
    """The sources in a file (none without a file); raises BadSources with all faults if the file cannot be used."""
    if path is None:
        return {}
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        detail = getattr(error, "strerror", None) or str(error)
        raise BadSources("bad_sources", f"FEEDCRAWL_SOURCES: {path} cannot be read: {detail}") from None
    try:
        found = read_sources(text)
    except BadSources as error:
        raise BadSources(error.code, f"FEEDCRAWL_SOURCES: {path}: {error.detail}") from None
    return {source.name: source for source in found}


def all_of(path: Path | None, said: SaidSources) -> Sources:
    """The sources of the file and those stored over the API; raises BadSources as `load` does, StoreUnavailable."""
    besides = said.all()
    return {**_readable(besides), **load(path)}


def _readable(said: Mapping[str, Mapping[str, Any]]) -> Sources:
    found: Sources = {}
    for name, entry in said.items():
        try:
            found[name] = read_source(entry)
        except BadSources as error:  # stored by another version, which had other fields
            logger.error("source_refused", extra={"source": name, "reason": error.code, "detail": error.detail})  # noqa: TRY400
    return found


async def refresh(sources: Sources, stores: Stores, said: SaidSources, fixed: Container[str]) -> None:
    """Update a running crawl's sources with changes made over the API; the sources of the file, `fixed`, stay."""
    besides = {name: source for name, source in _readable(said.all()).items() if name not in fixed}
    new = changed(sources, besides)
    for name in [name for name in sources if name not in fixed and name not in besides]:
        del sources[name]
    sources.update(new)
    await sync(new, stores)


async def put(
    stores: Stores, said: SaidSources, fixed: Container[str], entry: Mapping[str, Any]
) -> tuple[Source, bool]:
    """Store a source, subscribe its feeds and set the pace of its hosts; the source, and whether it is new.

    Raises Refusal: BadSources with all faults, `source_in_file` for a name that belongs to the file.
    """
    source = read_source(entry)
    _check_free(source.name, fixed)
    is_new = said.put(source.name, source_record(source))
    await sync({source.name: source}, stores)
    return source, is_new


def drop(said: SaidSources, fixed: Container[str], name: str) -> None:
    """Delete a source; its feeds stay subscribed. Raises Refusal: `source_in_file`, `no_such_source`."""
    _check_free(name, fixed)
    if not said.drop(name):
        raise Refusal("no_such_source", f"there is no source {name[:100]!r}")


def _check_free(name: str, fixed: Container[str]) -> None:
    if name in fixed:
        raise Refusal(
            "source_in_file", f"source {name[:100]!r} is in the file that FEEDCRAWL_SOURCES names: change it there"
        )


def rules_of(sources: Mapping[str, Source], name: str | None) -> SourceRules | None:
    """The selectors of a source; None if there is no such source."""
    source = sources.get(name or "")
    return source.selectors if source is not None else None


def source_of(sources: Mapping[str, Source], url: str) -> str | None:
    """The source whose site contains a URL, for a task that names no source; None if there is none."""
    return next((source.name for source in sources.values() if same_site(url, source.base_url)), None)


def keeps_trailing_slash(sources: Mapping[str, Source], name: str | None) -> bool:
    """True if URLs of this source that differ only in a trailing slash are different pages."""
    source = sources.get(name or "")
    return source is not None and source.keep_trailing_slash


async def sync(sources: Mapping[str, Source], stores: Stores) -> None:
    """Subscribe the feeds and sitemaps of the sources and set the pace of their hosts, in turns with the event loop.

    Can be repeated. A feed that a source no longer names stays subscribed until an operator unsubscribes it.
    """
    for source in sources.values():
        _pace(source, stores.frontier)
        if source.polls:
            _subscribe(source, stores)
        await asyncio.sleep(0)


def _pace(source: Source, frontier: Frontier) -> None:
    """Set the source's delay for its own hosts; a larger Crawl-delay of a host applies once it is known."""
    if source.domain_delay_sec is not None:
        frontier.pace_domain(registered_domain(hostname(source.base_url)), delay_sec=source.domain_delay_sec)
    if source.delay_sec is None:
        return
    urls = (source.base_url, *source.feed_urls, *source.sitemap_urls)
    hosts = {hostname(url) for url in urls if same_site(url, source.base_url)}
    for host in sorted(hosts):
        frontier.pace(host, delay_sec=source.delay_sec)


def _subscribe(source: Source, stores: Stores) -> None:
    """Subscribe feeds and sitemaps, each with the source's settings, which override settings made elsewhere."""
    now = stores.now()
    bounds = {
        "initial_interval_sec": source.poll_interval_sec,
        "min_interval_sec": source.min_interval_sec,
        "max_interval_sec": source.max_interval_sec,
    }
    feeds = _wishes(source, source.feed_urls, bounds)
    _, refused = registering.subscribe_all(stores.registry, stores.frontier, feeds, now)
    bounds = {"min_interval_sec": source.sitemap_interval_sec, "max_interval_sec": source.max_interval_sec}
    wanted, bad = watching.wished(_wishes(source, source.sitemap_urls, bounds), now)
    watching.settle_settings(stores.sitemaps, wanted, watching.watch(stores.sitemaps, stores.frontier, wanted))
    for each in (*refused, *bad):
        details: dict[str, Any] = {"source": source.name, "url": each.url, "reason": each.code, "detail": each.detail}
        logger.error("source_refused", extra=details)


def _wishes(source: Source, urls: Iterable[str], bounds: Mapping[str, float | None]) -> list[Wish]:
    fields = {"source": source.name, "priority": source.priority, **bounds}
    return [Wish(url, source.categories, said=fields) for url in urls]


def the_source(sources: Mapping[str, Source], name: str, url: str) -> Source:
    """The source to crawl: by name, or made from a base URL alone. Raises BadSources, with the remedy, if there
    is none.
    """
    if name:
        if name not in sources:
            known = ", ".join(sources) or "none: FEEDCRAWL_SOURCES names no file"
            raise BadSources("no_such_source", f"there is no source {name!r}; there are: {known}")
        if not sources[name].crawls:
            detail = f"source {name!r} must not be crawled: its ingestion_mode is feed; expected spider or both"
            raise BadSources("not_crawled", detail)
        return sources[name]
    try:
        base = finding.with_scheme(url)
        return Source(hostname(base), base, ingestion_mode="spider")
    except InvalidUrl as error:
        raise BadSources(error.code, f"-a source=NAME or -a url=URL is needed; {error.detail}") from None
