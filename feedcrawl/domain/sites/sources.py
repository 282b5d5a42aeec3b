"""Sources: sites with their settings, from the YAML file that an operator writes (docs/sources.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import yaml  # type: ignore[import-untyped]

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.priority import DEFAULT
from feedcrawl.domain.models import SourceRules
from feedcrawl.domain.sites.outgoing import read_addresses, read_proxies
from feedcrawl.domain.sites.source_values import (
    one_of,
    read_flag,
    read_minutes,
    read_name,
    read_names,
    read_patterns,
    read_rank,
    read_seconds,
    read_slash,
    read_url,
    read_urls,
    selectors,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Mode = Literal["feed", "spider", "both"]
ExternalLinks = Literal["ignore", "submit"]
Render = Literal["never", "auto", "always"]


class BadSources(Refusal):
    """A file of sources that is refused; `detail` lists every fault with its source and field."""


@dataclass(frozen=True, slots=True)
class Source:
    """One site. Times in seconds, None for the global setting; patterns are regular expressions (`re.search`).

    Feeds and sitemaps: None if the source names none, so that its site is searched for them; empty if the operator
    wants none.
    """

    name: str
    base_url: str
    feed_urls: tuple[str, ...] | None = None
    sitemap_urls: tuple[str, ...] | None = None
    ingestion_mode: Mode = "feed"
    categories: tuple[str, ...] = ()
    priority: int = DEFAULT
    delay_sec: float | None = None
    domain_delay_sec: float | None = None
    poll_interval_sec: float | None = None
    min_interval_sec: float | None = None
    max_interval_sec: float | None = None
    sitemap_interval_sec: float | None = None
    spider_interval_sec: float | None = None
    article_patterns: tuple[str, ...] = ()
    listing_patterns: tuple[str, ...] = ()
    selectors: SourceRules = field(default_factory=SourceRules)
    keep_trailing_slash: bool = False
    external_links: ExternalLinks = "ignore"
    render: Render | None = None
    full_text: bool = False
    bind_addresses: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    proxy_resolves: bool = False

    @property
    def polls(self) -> bool:
        """True if the source's feeds and sitemaps are polled."""
        return self.ingestion_mode in ("feed", "both")

    @property
    def crawls(self) -> bool:
        """True if the source's listing pages are followed."""
        return self.ingestion_mode in ("spider", "both")


def read_sources(text: str) -> tuple[Source, ...]:
    """The sources in a YAML file: a list of sources, or a mapping with that list under `sources`.

    Raises BadSources with all faults: a file that is read in part would not be crawled as its author intended.
    """
    faults: list[str] = []
    found: dict[str, Source] = {}
    for number, entry in enumerate(_entries(text), 1):
        source = _source(number, entry, faults)
        if source is not None and source.name in found:
            faults.append(f"source {source.name!r}: the name is given twice")
        elif source is not None:
            found[source.name] = source
    if faults:
        raise BadSources("bad_sources", "; ".join(faults))
    return tuple(found.values())


def read_source(entry: Mapping[str, object]) -> Source:
    """One source from an entry of the file. Raises BadSources with all its faults."""
    faults: list[str] = []
    source = _source(1, dict(entry), faults)
    if source is None:
        raise BadSources("bad_sources", "; ".join(faults))
    return source


def _entries(text: str) -> list[object]:
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadSources("bad_sources", f"the file is not valid YAML: {' '.join(str(error).split())}") from None
    entries = document.get("sources") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        raise BadSources("bad_sources", "expected a list of sources, or `sources:` with that list")
    return entries


def _source(number: int, entry: object, faults: list[str]) -> Source | None:
    """The source of one entry; None if the entry has faults, which are added to `faults`."""
    if not isinstance(entry, dict):
        faults.append(f"source {number}: expected a mapping of fields, not {entry!r:.60}")
        return None
    label = f"source {entry['name']!r:.110}" if "name" in entry else f"source {number}"
    mine = [f"{label}: {fault}" for fault in _misnamed(entry)]
    values: dict[str, Any] = {}
    for name, (target, read) in _FIELDS.items():
        if entry.get(name) is None:
            continue
        try:
            values[target] = read(entry[name])
        except ValueError as error:
            given = "" if name == "proxy" else f", not {entry[name]!r:.60}"  # a proxy's URL may hold a password
            mine.append(f"{label}: {name} must be {error}{given}")
    mine += [f"{label}: {name} is missing" for name in ("name", "base_url") if entry.get(name) is None]
    mine += [f"{label}: {fault}" for fault in _contradictions(values)]
    faults += mine
    return None if mine else Source(**values)


def _misnamed(entry: Mapping[object, object]) -> Iterator[str]:
    for name in entry:
        if name not in _FIELDS:
            yield f"there is no field {name!r:.60}; the fields are {', '.join(_FIELDS)}"
    named: dict[str, list[str]] = {}
    for name, (target, _) in _FIELDS.items():
        if name in entry:
            named.setdefault(target, []).append(name)
    for names in named.values():
        if len(names) > 1:
            yield f"give {' or '.join(names)}, not both"


def _contradictions(values: dict[str, Any]) -> Iterator[str]:
    shortest, longest = values.get("min_interval_sec"), values.get("max_interval_sec")
    if shortest is not None and longest is not None and shortest > longest:
        yield "min_interval_sec must be at most max_interval_sec"
    if values.get("bind_addresses") and values.get("proxies"):
        yield "give bind_address or proxy, not both"
    if values.get("proxy_resolves") and not values.get("proxies"):
        yield "proxy_resolves is given without a proxy"


_FIELDS: Final[dict[str, tuple[str, Callable[[object], object]]]] = {
    "name": ("name", read_name),
    "base_url": ("base_url", read_url),
    "feed_url": ("feed_urls", read_urls),
    "feed_urls": ("feed_urls", read_urls),
    "sitemap_url": ("sitemap_urls", read_urls),
    "sitemap_urls": ("sitemap_urls", read_urls),
    "ingestion_mode": ("ingestion_mode", one_of(*get_args(Mode))),
    "category": ("categories", read_names),
    "categories": ("categories", read_names),
    "priority": ("priority", read_rank),
    "delay_sec": ("delay_sec", read_seconds),
    "domain_delay_sec": ("domain_delay_sec", read_seconds),
    "poll_interval_sec": ("poll_interval_sec", read_seconds),
    "feed_poll_interval_minutes": ("poll_interval_sec", read_minutes),
    "min_interval_sec": ("min_interval_sec", read_seconds),
    "max_interval_sec": ("max_interval_sec", read_seconds),
    "sitemap_interval_sec": ("sitemap_interval_sec", read_seconds),
    "spider_interval_sec": ("spider_interval_sec", read_seconds),
    "spider_interval": ("spider_interval_sec", read_seconds),
    "article_url_patterns": ("article_patterns", read_patterns),
    "listing_url_patterns": ("listing_patterns", read_patterns),
    "selectors": ("selectors", selectors),
    "trailing_slash": ("keep_trailing_slash", read_slash),
    "external_links": ("external_links", one_of(*get_args(ExternalLinks))),
    "render": ("render", one_of(*get_args(Render))),
    "full_text": ("full_text", read_flag),
    "bind_address": ("bind_addresses", read_addresses),
    "proxy": ("proxies", read_proxies),
    "proxy_resolves": ("proxy_resolves", read_flag),
}
"""The fields in the file: the field of Source, and the reader, whose ValueError names the expected form."""
