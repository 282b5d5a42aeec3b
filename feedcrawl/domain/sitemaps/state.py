"""The stored state of a watched sitemap: its settings, and the results of its polls."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Final, TypeVar

from feedcrawl.domain.cadence.state import from_json
from feedcrawl.domain.cadence.values import PollState

MAX_DEPTH: Final = 3
"""Most levels of indexes that are followed below a sitemap that an operator or a site named."""

T = TypeVar("T", "Sitemap", "SitemapRecord")


@dataclass(frozen=True, slots=True)
class Sitemap:
    """A watched sitemap. `id` is a UUID; a part of an index has the `root` above it, and its `depth` below the root.

    `guess`: True if the address is only a common one for sitemaps; it is dropped if no sitemap is ever found there.
    """

    id: str
    url: str
    categories: tuple[str, ...] = ()
    source: str | None = None
    priority: int = 5
    root: str | None = None
    root_url: str | None = None
    depth: int = 0
    guess: bool = False
    added_at: str | None = None
    min_interval_sec: float | None = None
    max_interval_sec: float | None = None

    @property
    def tree(self) -> str:
        """The id of the root (a root's own id), which all parts of a tree of sitemaps share."""
        return self.root or self.id


@dataclass(frozen=True, slots=True)
class SitemapRecord:
    """The state that the polls have left. Validators are stored byte for byte as received; times are RFC 3339.

    `news_at`: time of the last change or news. `waiting`: number of URLs left for the next poll.
    """

    etag: str | None = None
    last_modified: str | None = None
    body_hash: str | None = None
    kind: str | None = None
    urls: int = 0
    waiting: int = 0
    cadence: str | None = None
    interval_sec: float | None = None
    next_at: str | None = None
    reason: str | None = None
    candidates: tuple[tuple[str, float], ...] = ()
    last_fetch_at: str | None = None
    last_success_at: str | None = None
    last_status: int | None = None
    last_result: str | None = None
    news_at: str | None = None

    @property
    def cadence_state(self) -> PollState:
        """The state from which the cadence policy continues."""
        return from_json(self.cadence) if self.cadence else PollState()


@dataclass(frozen=True, slots=True)
class Watched:
    """A sitemap with the state of its polls."""

    sitemap: Sitemap
    record: SitemapRecord

    @property
    def id(self) -> str:
        """The sitemap's UUID."""
        return self.sitemap.id


def dump(record: Sitemap | SitemapRecord) -> str:
    """The record as compact JSON, without the fields that are None, empty or 0."""
    values = {name: value for name, value in asdict(record).items() if value not in (None, (), 0)}
    return json.dumps(values, separators=(",", ":"), ensure_ascii=False)


def load_sitemap(text: str) -> Sitemap:
    """The sitemap from JSON that `dump` of this or another version wrote."""
    return _load(Sitemap, text)


def load_record(text: str | None) -> SitemapRecord:
    """The record from JSON that `dump` wrote; an empty record if the sitemap was never polled."""
    return _load(SitemapRecord, text) if text else SitemapRecord()


def _load(kind: type[T], text: str) -> T:
    record = json.loads(text)
    values = {field.name: record[field.name] for field in fields(kind) if field.name in record}
    for name in ("categories", "candidates"):
        if name in values:
            values[name] = tuple(tuple(each) if isinstance(each, list) else each for each in values[name])
    return kind(**values)
