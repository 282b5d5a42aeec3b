"""The sources in use: those of the operator's file, read once at the start, and those stored over the API.

A name that the file uses belongs to the file. `SourceBook.sync` brings sources into the frontier.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.sites.outgoing import FILE_ONLY
from feedcrawl.domain.sites.owners import Sources
from feedcrawl.domain.sites.source_records import changed, source_record
from feedcrawl.domain.sites.sources import BadSources, Source, read_source, read_sources
from feedcrawl.domain.urls import hostname, registered_domain, site_of
from feedcrawl.services.sites import crawling, searching
from feedcrawl.services.subscriptions import finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from feedcrawl.domain.models import SourceRules
    from feedcrawl.services.sites.searching import SourceStores
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.sites.sources import StoredSources

logger = logging.getLogger(__name__)

LOOK_SEC: Final = 1.0
"""Time after which a process looks whether another process has changed the sources that are stored over the API."""


def load(path: Path | None) -> Sources:
    """The sources in a file (none without a file); raises BadSources with all faults if the file cannot be used."""
    if path is None:
        return Sources()
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        detail = getattr(error, "strerror", None) or str(error)
        raise BadSources("bad_sources", f"FEEDCRAWL_SOURCES: {path} cannot be read: {detail}") from None
    try:
        return Sources(read_sources(text))
    except BadSources as error:
        raise BadSources(error.code, f"FEEDCRAWL_SOURCES: {path}: {error.detail}") from None


class SourceBook:
    """The sources of one process; raises BadSources if the file cannot be used, StoreUnavailable.

    `known` are the sources as last read, without a call of the store; `current()` looks for changes first.
    """

    def __init__(self, path: Path | None, stored: StoredSources) -> None:
        self._file = load(path)
        self._stored = stored
        self._synced = Sources()
        self._looked = float("-inf")
        self._version: str | None = None
        self.known = self._read()

    def in_file(self, name: str) -> bool:
        """True if a source belongs to the operator's file."""
        return name in self._file

    def current(self) -> Sources:
        """The sources; changes that another process made over the API are included after `LOOK_SEC` at most."""
        if time.monotonic() - self._looked >= LOOK_SEC:
            self._looked = time.monotonic()
            if self._stored.version() != self._version:
                self.known = self._read()
        return self.known

    async def sync(self, stores: SourceStores) -> None:
        """Subscribe the feeds and sitemaps of all sources that are new or changed since the last call, schedule the
        crawls of their listings, and set the delays of their hosts.

        In turns with the event loop. A feed that a source no longer names stays subscribed until an operator
        unsubscribes it.
        """
        sources, before = self.current(), self._synced
        new = changed(before, sources)
        _pace(new.values(), sources, stores.frontier)
        for source in new.values():
            if source.polls:
                _subscribe(source, stores)
            if source.crawls:
                crawling.schedule(source, stores.frontier)
            await asyncio.sleep(0)
        self._synced = sources

    async def put(self, stores: SourceStores, entry: Mapping[str, object]) -> tuple[Source, bool]:
        """Store a source, subscribe its feeds and set the delays of its hosts; the source, and whether it is new.

        Raises Refusal: BadSources with all faults, `source_in_file` for a name that belongs to the file.
        """
        for field in FILE_ONLY:
            if field in entry:
                raise BadSources("bad_sources", f"{field} can only be set in the file that FEEDCRAWL_SOURCES names")
        source = read_source(entry)
        self._check_free(source.name)
        is_new = self._stored.put(source.name, source_record(source))
        self._looked = float("-inf")
        await self.sync(stores)
        return source, is_new

    def drop(self, stores: SourceStores, name: str) -> None:
        """Delete a source; its feeds stay subscribed. Raises Refusal: `source_in_file`, `no_such_source`."""
        self._check_free(name)
        gone = self.current().get(name)
        if not self._stored.drop(name):
            raise Refusal("no_such_source", f"there is no source {name[:100]!r}")
        self._looked = float("-inf")
        _pace([gone] if gone is not None else [], self.current(), stores.frontier)

    def _check_free(self, name: str) -> None:
        if self.in_file(name):
            raise Refusal(
                "source_in_file", f"source {name[:100]!r} is in the file that FEEDCRAWL_SOURCES names: change it there"
            )

    def _read(self) -> Sources:
        self._version, self._looked = self._stored.version(), time.monotonic()
        besides = (source for source in _readable(self._stored.all()) if source.name not in self._file)
        return Sources((*besides, *self._file.values()))


def _readable(entries: Mapping[str, Mapping[str, object]]) -> Iterable[Source]:
    for name, entry in entries.items():
        try:
            yield read_source(entry)
        except BadSources as error:  # stored by another version, which had other fields
            logger.error("source_refused", extra={"source": name, "reason": error.code, "detail": error.detail})  # noqa: TRY400


def _pace(touched: Iterable[Source], sources: Sources, frontier: Frontier) -> None:
    """Set the delays of the domains of these sources; a larger Crawl-delay of a host applies once it is known."""
    delays = sources.delays_sec()
    shared = {registered_domain(hostname(each.base_url)): each.domain_delay_sec for each in touched}
    for domain, domain_delay in shared.items():
        delay = delays.get(domain)
        if site_of(domain) is not None:
            frontier.pace_scope("domain", domain, delay_sec=domain_delay, hosts_delay_sec=delay or 0)
        elif delay is not None:  # an address, or a name without a public suffix
            frontier.pace(domain, delay_sec=delay)


def _subscribe(source: Source, stores: SourceStores) -> None:
    """Subscribe the feeds and sitemaps of a source, and have its site searched for those that it does not name."""
    sitemaps = searching.without_pages(source.sitemap_urls or (), stores)
    refused = searching.subscribe(source, source.feed_urls or (), sitemaps, stores)
    for each in (*refused, *searching.sync(source, stores)):
        details = {"source": source.name, "url": each.url, "reason": each.code, "detail": each.detail}
        logger.error("source_refused", extra=details)


def selectors_of(source: Source | None) -> SourceRules | None:
    """The selectors of a source; None without a source."""
    return source.selectors if source is not None else None


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
