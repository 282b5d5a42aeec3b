"""Sources: sites with their settings, from the YAML file that an operator writes (docs/sources.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import yaml  # type: ignore[import-untyped]

from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.extraction.rules import fault
from feedcrawl.domain.frontier.priority import DEFAULT, HIGHEST, LOWEST
from feedcrawl.domain.models import SourceRules
from feedcrawl.domain.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Mode = Literal["feed", "spider", "both"]
ExternalLinks = Literal["ignore", "submit"]
Render = Literal["never", "auto", "always"]

MAX_NAME: Final = 100


class BadSources(Refusal):
    """A file of sources that is refused; `detail` lists every fault with its source and field."""


@dataclass(frozen=True, slots=True)
class Source:
    """One site. Times in seconds, None for the global setting; patterns are regular expressions (`re.search`)."""

    name: str
    base_url: str
    feed_urls: tuple[str, ...] = ()
    sitemap_urls: tuple[str, ...] = ()
    ingestion_mode: Mode = "feed"
    categories: tuple[str, ...] = ()
    priority: int = DEFAULT
    delay_sec: float | None = None
    domain_delay_sec: float | None = None
    poll_interval_sec: float | None = None
    min_interval_sec: float | None = None
    max_interval_sec: float | None = None
    sitemap_interval_sec: float | None = None
    article_patterns: tuple[str, ...] = ()
    listing_patterns: tuple[str, ...] = ()
    selectors: SourceRules = field(default_factory=SourceRules)
    keep_trailing_slash: bool = False
    external_links: ExternalLinks = "ignore"
    render: Render | None = None

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


def read_source(entry: Mapping[str, Any]) -> Source:
    """One source from an entry of the file. Raises BadSources with all its faults."""
    faults: list[str] = []
    source = _source(1, dict(entry), faults)
    if source is None:
        raise BadSources("bad_sources", "; ".join(faults))
    return source


def _entries(text: str) -> list[Any]:
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadSources("bad_sources", f"the file is not valid YAML: {' '.join(str(error).split())}") from None
    entries = document.get("sources") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        raise BadSources("bad_sources", "expected a list of sources, or `sources:` with that list")
    return entries


def _source(number: int, entry: Any, faults: list[str]) -> Source | None:
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
            mine.append(f"{label}: {name} must be {error}, not {entry[name]!r:.60}")
    mine += [f"{label}: {name} is missing" for name in ("name", "base_url") if entry.get(name) is None]
    mine += [f"{label}: {fault}" for fault in _contradictions(values)]
    faults += mine
    return None if mine else Source(**values)


def _misnamed(entry: dict[Any, Any]) -> Iterator[str]:
    for name in entry:
        if name not in _FIELDS:
            yield f"there is no field {name!r:.60}; the fields are {', '.join(_FIELDS)}"
    for one, many in (("feed_url", "feed_urls"), ("sitemap_url", "sitemap_urls"), ("category", "categories")):
        if one in entry and many in entry:
            yield f"give {one} or {many}, not both"


def _contradictions(values: dict[str, Any]) -> Iterator[str]:
    shortest, longest = values.get("min_interval_sec"), values.get("max_interval_sec")
    if shortest is not None and longest is not None and shortest > longest:
        yield "min_interval_sec must be at most max_interval_sec"


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME:
        raise ValueError(f"a text of at most {MAX_NAME} characters")
    return value.strip()


def _names(value: Any) -> tuple[str, ...]:
    return tuple(map(_name, _listed(value)))


def _url(value: Any) -> str:
    try:
        return resolve(value) if isinstance(value, str) else _no_url()
    except InvalidUrl:
        return _no_url()


def _no_url() -> str:
    raise ValueError("an absolute http:// or https:// URL")


def _urls(value: Any) -> tuple[str, ...]:
    return tuple(map(_url, _listed(value)))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _rank(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not LOWEST <= value <= HIGHEST:
        raise ValueError(f"a whole number from {LOWEST} to {HIGHEST}")
    return value


def _seconds(value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < 10**9:
        raise ValueError("a number of seconds above 0")
    return float(value)


def _minutes(value: Any) -> float:
    try:
        return _seconds(value) * 60
    except ValueError:
        raise ValueError("a number of minutes above 0") from None


def _patterns(value: Any) -> tuple[str, ...]:
    for pattern in _listed(value):
        try:
            re.compile(pattern)
        except (TypeError, re.error) as error:
            raise ValueError(f"a regular expression or a list of them ({error})") from None
    return tuple(_listed(value))


def selectors(value: Any) -> SourceRules:
    """A source's `selectors` from their form in the file. Raises ValueError with the expected form or the fault."""
    names = [each.name for each in fields(SourceRules)]
    if not isinstance(value, dict) or not set(value) <= set(names):
        raise ValueError(f"a mapping with some of {', '.join(names)}")
    chosen = {name: _listed(each) for name, each in value.items() if each is not None}
    if not all(isinstance(text, str) and text for texts in chosen.values() for text in texts):
        raise ValueError("CSS or XPath selectors, each a text or a list of texts")
    faults = [f"{name}: {wrong}" for name, texts in chosen.items() for text in texts if (wrong := fault(text))]
    if faults:
        raise ValueError(f"valid CSS or XPath ({'; '.join(faults)})")
    return SourceRules(**{name: tuple(texts) for name, texts in chosen.items()})


def _one_of(*words: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in words:
            raise ValueError(" or ".join(words))
        return str(value)

    return read


def _keeps_slash(value: Any) -> bool:
    return _one_of("remove", "keep")(value) == "keep"


_FIELDS: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "name": ("name", _name),
    "base_url": ("base_url", _url),
    "feed_url": ("feed_urls", _urls),
    "feed_urls": ("feed_urls", _urls),
    "sitemap_url": ("sitemap_urls", _urls),
    "sitemap_urls": ("sitemap_urls", _urls),
    "ingestion_mode": ("ingestion_mode", _one_of(*get_args(Mode))),
    "category": ("categories", _names),
    "categories": ("categories", _names),
    "priority": ("priority", _rank),
    "delay_sec": ("delay_sec", _seconds),
    "domain_delay_sec": ("domain_delay_sec", _seconds),
    "poll_interval_sec": ("poll_interval_sec", _seconds),
    "feed_poll_interval_minutes": ("poll_interval_sec", _minutes),
    "min_interval_sec": ("min_interval_sec", _seconds),
    "max_interval_sec": ("max_interval_sec", _seconds),
    "sitemap_interval_sec": ("sitemap_interval_sec", _seconds),
    "article_url_patterns": ("article_patterns", _patterns),
    "listing_url_patterns": ("listing_patterns", _patterns),
    "selectors": ("selectors", selectors),
    "trailing_slash": ("keep_trailing_slash", _keeps_slash),
    "external_links": ("external_links", _one_of(*get_args(ExternalLinks))),
    "render": ("render", _one_of(*get_args(Render))),
}
"""The fields in the file: the field of Source, and the reader, whose ValueError names the expected form."""
