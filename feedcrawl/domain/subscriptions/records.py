"""The state of a subscribed feed: the operator's subscription, the results of its polls, the public record."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Final, cast

from feedcrawl.domain.cadence.state import from_json
from feedcrawl.domain.cadence.values import PollState
from feedcrawl.domain.http.validators import trust_from
from feedcrawl.domain.json_values import compact_json, from_json_text, known_fields
from feedcrawl.domain.operations.counters import GOOD_POLLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from feedcrawl.domain.subscriptions.health import HealthRecord
    from feedcrawl.domain.subscriptions.moves import MoveRecord
    from feedcrawl.domain.subscriptions.published import Day, FeedRecord

DEFAULT_PRIORITY: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """An operator's settings for one feed: priority 1 … 10, intervals in seconds, switches, texts.

    Intervals that are set override the policy's; `fixed_interval_sec` replaces the cadence. A `push_only` feed is
    polled at its longest interval, as a safety net. A feed with `no_discovery` is never searched for at another
    address. `backfill`: the feed's archives are read, once. A `paused` feed is not polled; of a feed with
    `entries_only` no article is fetched. `user_agent` replaces the crawler's in its polls. `keep_rules` and
    `drop_rules` select its entries (`domain.feeds.selection`).
    """

    priority: int | None = None
    min_interval_sec: float | None = None
    max_interval_sec: float | None = None
    initial_interval_sec: float | None = None
    backfill: bool = False
    fixed_interval_sec: float | None = None
    push_only: bool = False
    no_discovery: bool = False
    paused: bool = False
    entries_only: bool = False
    user_agent: str | None = None
    keep_rules: str = ""
    drop_rules: str = ""

    def given(self) -> dict[str, str | float | bool]:
        """The values that are set, by name."""
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True, slots=True)
class Subscription(Overrides):
    """A subscription, with the operator's settings. `id` is a UUID that stays when the URL changes.

    `page`: the page that was named instead of the feed. `untried`: addresses where the page's feed may be if it is not
    at `url`. `formerly`: addresses that the feed moved from, the last one last. `refused`: addresses that an operator
    moved the feed back from; the feed does not move there again by itself.

    `scheme_guessed`: True if an operator named the address without http or https.

    `unfolds`: True if an operator named this address; a list of feeds that is served there before any feed was replaces
    the subscription by the feeds that it lists (`handlers.lists`).

    `private`: the names of the request headers that only the feed's own origin gets; their values are stored apart
    (`domain.subscriptions.access`). `request_id`: the API request that subscribed the feed.
    """

    id: str
    url: str
    categories: tuple[str, ...] = ()
    title: str | None = None
    added_at: str | None = None
    source: str | None = None
    priority: int = field(default=DEFAULT_PRIORITY, kw_only=True)
    page: str | None = None
    untried: tuple[str, ...] = ()
    formerly: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    unfolds: bool = False
    scheme_guessed: bool = False
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class PollRecord:
    """The state that a feed's polls have left. Validators are stored byte for byte as received; times are RFC 3339.

    `body_hash` and `body_bytes`: sha256 and length of the last body. `digest`: sha256 of its entries' content. `raw`:
    reference of the fetch that returned the body. `shown`: number of its entries. `trust` and `health`: records of the
    modules `validators` and `health`. `possibly_missed`: number of polls before which entries may have come and gone.
    `searched_at`: last search for the feed at another address. `demand`: the feed's part of the fleet's demand for
    polls (`domain.cadence.tempo`).
    """

    etag: str | None = None
    last_modified: str | None = None
    body_hash: str | None = None
    body_bytes: int = 0
    digest: str | None = None
    shown: int = 0
    trust: dict[str, object] | None = None
    health: HealthRecord | None = None
    possibly_missed: int = 0
    searched_at: str | None = None
    demand: float = 0.0
    raw: dict[str, str] | None = None
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
    quiet_since: str | None = None
    """The time at which a poll found the feed quiet against its own last weeks."""
    ids: Mapping[str, object] | None = None
    moving: MoveRecord | None = None
    archives: str | None = None
    """How the walk through the feed's archives began, or why there was none (`archives.Reason`)."""

    @property
    def is_good(self) -> bool:
        """True if the last poll returned a usable response, or the feed was never polled."""
        return self.last_result is None or self.last_result in GOOD_POLLS

    @property
    def cadence_state(self) -> PollState:
        """The state from which the cadence policy continues."""
        return from_json(self.cadence) if self.cadence else PollState()


@dataclass(frozen=True, slots=True)
class Feed:
    """A subscription with the state of its polls."""

    subscription: Subscription
    polls: PollRecord

    @property
    def id(self) -> str:
        """The feed's UUID."""
        return self.subscription.id

    @property
    def needs_archives(self) -> bool:
        """True if the archives shall be read and no poll has begun to read them."""
        return self.subscription.backfill and self.polls.archives is None

    @property
    def is_guess(self) -> bool:
        """True if the URL was derived from a page and no response has shown yet that a feed is there."""
        return self.subscription.page is not None and self.polls.last_success_at is None

    def public(self, *, min_interval_sec: float, max_interval_sec: float) -> FeedRecord:
        """The feed's public record, in the shape of docs/data-format.md."""
        own, polls = self.subscription, self.polls
        state = polls.cadence_state
        hints = state.hints
        return {
            "id": own.id,
            "url": own.url,
            "type": polls.type,
            "title": own.title or polls.title,
            "site_url": polls.site_url,
            "categories": list(own.categories),
            "added_at": own.added_at,
            "request_id": own.request_id,
            "page": own.page,
            "formerly": list(own.formerly),
            "paused": own.paused,
            "entries_only": own.entries_only,
            "user_agent": own.user_agent,
            "keep_rules": own.keep_rules,
            "drop_rules": own.drop_rules,
            "private": list(own.private),
            "validators": {
                "etag": polls.etag,
                "last_modified": polls.last_modified,
                "not_sent": list(trust_from(polls.trust).marks),
            },
            "schedule": {
                "interval_sec": None if polls.interval_sec is None else round(polls.interval_sec),
                "min_interval_sec": round(own.min_interval_sec or min_interval_sec),
                "max_interval_sec": round(own.max_interval_sec or max_interval_sec),
                "fixed_interval_sec": round(own.fixed_interval_sec) if own.fixed_interval_sec else None,
                "push_only": own.push_only,
                "last_decision_at": polls.last_decision_at,
                "next_at": None if own.paused else polls.next_at,
                "reason": "paused" if own.paused else polls.reason,
                "retry_after_sec": None if polls.retry_after_sec is None else round(polls.retry_after_sec),
            },
            "publisher_hints": {
                "ttl_minutes": hints.ttl_minutes,
                "skip_hours": sorted(hints.skip_hours) or None,
                "skip_days": cast("list[Day]", sorted(hints.skip_days)) or None,
            },
            "stats": {
                "last_fetch_at": polls.last_fetch_at,
                "last_success_at": polls.last_success_at,
                "last_status": polls.last_status,
                "last_result": polls.last_result,
                "consecutive_failures": state.errors,
                "ewma_interarrival_sec": None if state.ewma_sec is None else round(state.ewma_sec),
                "new_entries_last_fetch": polls.new_entries_last_fetch,
                "last_item_count": polls.shown,
                "possibly_missed": polls.possibly_missed,
                "quiet_since": polls.quiet_since,
            },
        }


def dump(record: Subscription | PollRecord) -> str:
    """The record as compact JSON, without the fields that are None, empty or 0."""
    # asdict() would copy the ids of a whole document, at each poll without news.
    values = ((name, getattr(record, name)) for name in record.__dataclass_fields__)
    return compact_json({name: value for name, value in values if value not in (None, (), 0, "")})


def load_subscription(text: str) -> Subscription:
    """The subscription from JSON that `dump` of this or another version wrote."""
    values = known_fields(Subscription, from_json_text(text))
    for name in ("categories", "untried", "formerly", "refused", "private"):
        if name in values:
            values[name] = tuple(values[name])
    return Subscription(**values)


def load_polls(text: str | None) -> PollRecord:
    """The poll record from JSON that `dump` wrote; an empty record if the feed was never polled."""
    values = known_fields(PollRecord, from_json_text(text)) if text else {}
    if "candidates" in values:
        values["candidates"] = tuple((name, wait) for name, wait in values["candidates"])
    return PollRecord(**values)
