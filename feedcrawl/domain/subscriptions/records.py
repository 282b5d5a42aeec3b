"""A subscribed feed: what an operator said of it, what its polls have taught, and both as other programs see them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from feedcrawl.domain.cadence.state import from_json
from feedcrawl.domain.cadence.values import PollState
from feedcrawl.domain.http.validators import trust_from

_JSON = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Subscription:
    """What was subscribed to. `id` is a UUID that outlives every URL; intervals override the policy's where given.

    `backfill`: the feed's archives shall be read, once. `page` is the page that was named instead of the feed, and
    `untried` are the addresses where its feed may be if it is not at `url`. `formerly` are those that it moved from,
    the last one last, and `refused` those that it was moved back from and goes to no more by itself.

    `unfolds`: an operator named this address itself, so that a list of feeds which answers there before any feed has is
    replaced by the feeds that it lists (`handlers.lists`).

    `fixed_interval_sec` stands in place of the cadence; a `push_only` feed is polled at its longest interval, as a
    safety net; one with `no_discovery` stays where it is whatever answers there. `request_id` names the request to the
    API that subscribed it.
    """

    id: str
    url: str
    categories: tuple[str, ...] = ()
    title: str | None = None
    added_at: str | None = None
    source: str | None = None
    priority: int = 5
    min_interval_sec: float | None = None
    max_interval_sec: float | None = None
    initial_interval_sec: float | None = None
    backfill: bool = False
    page: str | None = None
    untried: tuple[str, ...] = ()
    formerly: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    fixed_interval_sec: float | None = None
    push_only: bool = False
    no_discovery: bool = False
    unfolds: bool = False
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class PollRecord:
    """What the polls of a feed have left. Validators are kept byte for byte as received; times are RFC 3339.

    `body_hash` and `body_bytes` are sha256 and length of the last body, `digest` that of what its entries say, `raw`
    the reference of the fetch that brought it, `shown` how many entries it held. `trust` and `health` are records of
    `validators` and `health`. `possibly_missed` counts polls between which entries may have come and gone.
    `searched_at` is when the feed was last looked for elsewhere. `demand` is what it adds to that of the fleet
    (`domain.tempo`).
    """

    etag: str | None = None
    last_modified: str | None = None
    body_hash: str | None = None
    body_bytes: int = 0
    digest: str | None = None
    shown: int = 0
    trust: dict[str, Any] | None = None
    health: dict[str, Any] | None = None
    possibly_missed: int = 0
    searched_at: str | None = None
    demand: float = 0.0
    raw: dict[str, Any] | None = None
    type: str = "unknown"
    title: str | None = None
    site_url: str | None = None
    cadence: str | None = None
    interval_sec: float | None = None
    next_at: str | None = None
    last_decision_at: str | None = None
    reason: str | None = None
    candidates: tuple[tuple[str, float], ...] = ()
    retry_after_sec: float | None = None
    last_fetch_at: str | None = None
    last_success_at: str | None = None
    last_status: int | None = None
    last_result: str | None = None
    new_entries_last_fetch: int = 0
    ids: dict[str, Any] | None = None
    moving: dict[str, Any] | None = None
    archives: str | None = None
    """How the walk through the feed's archives began, or why there was none (`paging.Reason`)."""

    @property
    def is_good(self) -> bool:
        """Whether the last poll brought a usable answer, or there was none yet."""
        return self.last_result in (None, "fetched", "not_modified", "unchanged")

    @property
    def cadence_state(self) -> PollState:
        """The state that the cadence policy goes on from."""
        return from_json(self.cadence) if self.cadence else PollState()


@dataclass(frozen=True, slots=True)
class Feed:
    """A subscription with its polls."""

    subscription: Subscription
    polls: PollRecord

    @property
    def id(self) -> str:
        """The feed's UUID."""
        return self.subscription.id

    @property
    def wants_archives(self) -> bool:
        """Whether its archives shall be read and no poll has begun to."""
        return self.subscription.backfill and self.polls.archives is None

    @property
    def is_guess(self) -> bool:
        """Whether its URL was derived from a page, and no answer has shown yet that a feed is there."""
        return self.subscription.page is not None and self.polls.last_success_at is None

    def public(self, *, min_interval_sec: float, max_interval_sec: float) -> dict[str, Any]:
        """The feed as other programs see it, in the shape of docs/data-format.md."""
        said, polls = self.subscription, self.polls
        state = polls.cadence_state
        hints = state.hints
        return {
            "id": said.id,
            "url": said.url,
            "type": polls.type,
            "title": said.title or polls.title,
            "site_url": polls.site_url,
            "categories": list(said.categories),
            "added_at": said.added_at,
            "request_id": said.request_id,
            "page": said.page,
            "formerly": list(said.formerly),
            "validators": {
                "etag": polls.etag,
                "last_modified": polls.last_modified,
                "not_sent": list(trust_from(polls.trust).marks),
            },
            "schedule": {
                "interval_sec": None if polls.interval_sec is None else round(polls.interval_sec),
                "min_interval_sec": round(said.min_interval_sec or min_interval_sec),
                "max_interval_sec": round(said.max_interval_sec or max_interval_sec),
                "fixed_interval_sec": said.fixed_interval_sec and round(said.fixed_interval_sec),
                "push_only": said.push_only,
                "last_decision_at": polls.last_decision_at,
                "next_at": polls.next_at,
                "reason": polls.reason,
                "retry_after_sec": None if polls.retry_after_sec is None else round(polls.retry_after_sec),
            },
            "publisher_hints": {
                "ttl_minutes": hints.ttl_minutes,
                "skip_hours": sorted(hints.skip_hours) or None,
                "skip_days": sorted(hints.skip_days) or None,
            },
            "stats": {
                "last_fetch_at": polls.last_fetch_at,
                "last_success_at": polls.last_success_at,
                "last_status": polls.last_status,
                "last_result": polls.last_result,
                "consecutive_failures": state.errors,
                "ewma_interarrival_sec": None if state.ewma_sec is None else round(state.ewma_sec),
                "new_entries_last_fetch": polls.new_entries_last_fetch,
                "possibly_missed": polls.possibly_missed,
            },
        }


def dump(record: Subscription | PollRecord) -> str:
    """A record as compact JSON, fields without a value left out."""
    # Not asdict(): it copies the ids of a whole document, with each poll that brought nothing.
    values = ((name, getattr(record, name)) for name in record.__dataclass_fields__)
    return _JSON.encode({name: value for name, value in values if value not in (None, (), 0)})


def load_subscription(text: str) -> Subscription:
    """The subscription that `dump` wrote, of this or another version."""
    return Subscription(**_known(Subscription, json.loads(text)))


def load_polls(text: str | None) -> PollRecord:
    """The poll record that `dump` wrote; a feed never polled has an empty one."""
    return PollRecord(**_known(PollRecord, json.loads(text))) if text else PollRecord()


def _known(kind: type[Any], record: dict[str, Any]) -> dict[str, Any]:
    values = {name: record[name] for name in kind.__dataclass_fields__ if name in record}
    for name in ("categories", "untried", "formerly", "refused"):
        if name in values:
            values[name] = tuple(values[name])
    if "candidates" in values:
        values["candidates"] = tuple((name, figure) for name, figure in values["candidates"])
    return values
