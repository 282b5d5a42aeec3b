"""A sitemap that is watched: what was asked for, and what its polls have left."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Final, TypeVar

from feedcrawl.domain.cadence.state import from_json
from feedcrawl.domain.cadence.values import PollState

MAX_DEPTH: Final = 3
"""Indexes between a sitemap that someone named and the last that is followed from it."""

T = TypeVar("T", "Sitemap", "SitemapRecord")


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What is watched. `id` is a UUID; a part of an index has the `root` that someone named, and its `depth` below it.

    A `guess` is an address where many sites keep one: it is forgotten if it never was any.
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
        """The id of the root, its own for a root: what all parts of one site's sitemaps share."""
        return self.root or self.id


@dataclass(frozen=True, slots=True)
class SitemapRecord:
    """What the polls have left. Validators are kept byte for byte as received; times are RFC 3339.

    `news_at` is when it last changed or brought something, `waiting` how many of its URLs were left for the next poll.
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
        """The state that the cadence policy goes on from."""
        return from_json(self.cadence) if self.cadence else PollState()


@dataclass(frozen=True, slots=True)
class Watched:
    """A sitemap with its polls."""

    sitemap: Sitemap
    record: SitemapRecord

    @property
    def id(self) -> str:
        """The sitemap's UUID."""
        return self.sitemap.id


def dump(record: Sitemap | SitemapRecord) -> str:
    """A record as compact JSON, fields without a value left out."""
    said = {name: value for name, value in asdict(record).items() if value not in (None, (), 0)}
    return json.dumps(said, separators=(",", ":"), ensure_ascii=False)


def load_sitemap(text: str) -> Sitemap:
    """The sitemap that `dump` wrote, of this or another version."""
    return _load(Sitemap, text)


def load_record(text: str | None) -> SitemapRecord:
    """The record that `dump` wrote; a sitemap never polled has an empty one."""
    return _load(SitemapRecord, text) if text else SitemapRecord()


def _load(kind: type[T], text: str) -> T:
    said = json.loads(text)
    values = {field.name: said[field.name] for field in fields(kind) if field.name in said}
    for name in ("categories", "candidates"):
        if name in values:
            values[name] = tuple(tuple(each) if isinstance(each, list) else each for each in values[name])
    return kind(**values)
