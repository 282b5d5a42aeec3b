"""Subscribed feeds: their settings, their statistics, and the reasons of their polls."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from feedcrawl.api import problems, schemas
from feedcrawl.api.access import needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.limits.places import HEAVY
from feedcrawl.api.paging import Cursor, Limit, Moment, place_of, shown
from feedcrawl.config import Config
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.entries.records import EntryRecord
from feedcrawl.domain.feeds.selection import MAX_RULE_CHARS, MAX_RULES, read_rules
from feedcrawl.domain.frontier.tasks import MAX_CATEGORY
from feedcrawl.domain.subscriptions.access import MAX_HEADERS, header
from feedcrawl.domain.subscriptions.listed import MAX_AGENT, MAX_CATEGORIES, categories_of
from feedcrawl.domain.subscriptions.published import FeedRecord, JournalLineRecord, WhyRecord
from feedcrawl.domain.subscriptions.records import DEFAULT_PRIORITY
from feedcrawl.domain.subscriptions.specs import SubscriptionSpec
from feedcrawl.domain.subscriptions.statistics import statistics_of
from feedcrawl.domain.urls import MAX_URL_LENGTH
from feedcrawl.services.subscriptions import discovery, lineage, listing, registering, stored_entries
from feedcrawl.services.subscriptions.explanations import explained
from feedcrawl.services.subscriptions.finding import with_scheme

if TYPE_CHECKING:
    from feedcrawl.domain.subscriptions.access import Header
    from feedcrawl.domain.subscriptions.records import Feed

router = APIRouter(prefix="/feeds", tags=["feeds"], dependencies=[Depends(needs("read"))])

WRITES = [Depends(needs("write"))]
FeedId = Annotated[UUID, Path(description="id of a feed", examples=["0b5bca8e-6b5a-4b0e-9f4f-0d1a2b3c4d5e"])]
Categories = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=MAX_CATEGORY)]], Field(max_length=MAX_CATEGORIES)
]
Interval = Annotated[float | None, Field(gt=0, le=10**9, allow_inf_nan=False, description="seconds")]
MISSING = problems.answers(404)

_FIGURES = schemas.component(
    "FeedStatistics",
    schemas.fields(
        fetch_count={"type": "integer"},
        success_rate={"type": ["number", "null"]},
        not_modified_rate={"type": ["number", "null"]},
        error_code_counts={"type": "object", "additionalProperties": {"type": "integer"}},
        retry_count={"type": "integer"},
        bytes_in={"type": "integer", "description": "Bodies as received, in their content codings"},
        compression_ratio={"type": ["number", "null"], "description": "Decoded bytes per received byte"},
        average_latency_sec={"type": ["number", "null"]},
        new_entries={
            "type": "array",
            "items": {"type": "integer"},
            "description": "New entries of each poll, the last poll first",
        },
    ),
)
_FEED = schemas.component("Feed", schemas.published(FeedRecord))
_ONE = schemas.component(
    "FeedWithStatistics",
    schemas.published(FeedRecord, figures={**_FIGURES, "description": "Statistics over the polls in the journal"}),
)
TAKEN = schemas.component(
    "DueFeed",
    schemas.fields(id={"type": "string", "format": "uuid"}, next_at={"type": "string", "format": "date-time"}),
)
ENTRY = schemas.component("Entry", schemas.published(EntryRecord))
ENTRIES = schemas.answer("Entries", schemas.component("EntryPage", schemas.page_of("entries", ENTRY)))
_FEEDS = schemas.component("FeedPage", schemas.page_of("feeds", _FEED))
_WHY = schemas.component("Why", schemas.published(WhyRecord))
FETCHES = schemas.component(
    "Journal",
    schemas.fields(
        fetches={
            "type": "array",
            "items": schemas.component("JournalLine", schemas.published(JournalLineRecord)),
        }
    ),
)


def _valid_rules(text: str) -> str:
    """The rules as they are; ValueError, as pydantic expects, for rules that cannot be read."""
    read_rules(text)
    return text.strip()


Rules = Annotated[str, Field(max_length=MAX_RULES * MAX_RULE_CHARS), AfterValidator(_valid_rules)]
UserAgent = Annotated[str, Field(min_length=1, max_length=MAX_AGENT, pattern=r"^[!-~][ -~]*$")]
_DEFAULTS = {"priority": DEFAULT_PRIORITY, "keep_rules": "", "drop_rules": ""} | dict.fromkeys(
    ("push_only", "no_discovery", "paused", "entries_only"), False
)


class FeedOptions(BaseModel):
    """Optional settings of a feed; `null` restores the default."""

    model_config = ConfigDict(extra="forbid", strict=True)

    title: str | None = Field(None, max_length=1000)
    priority: int | None = Field(None, ge=1, le=10)
    min_interval_sec: Interval = None
    max_interval_sec: Interval = None
    initial_interval_sec: Interval = None
    fixed_interval_sec: Interval = Field(None, description="fixed interval, in place of the cadence")
    push_only: bool | None = Field(None, description="poll at the longest interval only")
    no_discovery: bool | None = Field(None, description="never searched for at another address")
    paused: bool | None = Field(None, description="the feed is not polled until it is resumed")
    entries_only: bool | None = Field(None, description="the articles of its entries are not fetched")
    user_agent: UserAgent | None = Field(None, description="User-Agent of the polls, in place of the crawler's")
    keep_rules: Rules | None = Field(None, description="entries that match none are left out")
    drop_rules: Rules | None = Field(None, description="entries that match one are left out")
    headers: dict[str, str] | None = Field(
        None,
        max_length=MAX_HEADERS,
        repr=False,
        json_schema_extra={"writeOnly": True},
        description="headers of the polls (`Authorization`, …), for the feed's own origin; replaces all stored ones",
    )

    def given(self) -> dict[str, Any]:
        """Fields of a Subscription, those that were given."""
        values = self.model_dump(include=set(FeedOptions.model_fields) - {"headers"}, exclude_unset=True)
        return {name: _DEFAULTS.get(name) if value is None else value for name, value in values.items()}

    def login(self) -> tuple[Header, ...] | None:
        """The request headers of a private feed; None if the field was left out. Raises Refusal (`bad_header`)."""
        if "headers" not in self.model_fields_set:
            return None
        return tuple(header(name, value) for name, value in (self.headers or {}).items())


class NewFeed(FeedOptions):
    """A feed, or a page that offers feeds."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"url": "https://news.example.com/feed.xml", "categories": ["villages"]}]}
    )

    url: str = Field(min_length=1, max_length=MAX_URL_LENGTH, description="URL of a feed, or of a page that names one")
    categories: Categories = []
    backfill: bool = Field(default=False, description="read the archives of the feed too, once")


class Changes(FeedOptions):
    """Changes of a feed; fields that are left out stay. Another `url` is the new address of the same feed."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"fixed_interval_sec": 3600, "categories": ["villages"]}]}
    )

    url: str | None = Field(None, min_length=1, max_length=MAX_URL_LENGTH)
    categories: Categories | None = None


@router.get(
    "",
    operation_id="list_feeds",
    responses={200: schemas.answer("Feeds", _FEEDS)},
)
def list_feeds(
    request: Request,
    wired: Wired,
    *,
    category: Annotated[str | None, Query(max_length=MAX_CATEGORY)] = None,
    source: Annotated[str | None, Query(max_length=100, description="name of a source")] = None,
    host: Annotated[str | None, Query(max_length=253)] = None,
    failing: Annotated[bool | None, Query(description="true: feeds whose last poll failed; false: the others")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Response:
    """Feeds in no order; each feed that exists during the whole listing comes at least once.

    If few feeds match, a page may have fewer than `limit`, or none, without being the last: continue while `next` is
    given.
    """
    conditions = listing.FeedFilter(category or None, source or None, host or None, failing)
    found, following = listing.page(wired.registry, conditions, place_of(cursor), limit)
    return shown(request, {"feeds": [_public(wired.config, feed) for feed in found]}, following)


@router.post(
    "",
    status_code=201,
    operation_id="subscribe",
    dependencies=WRITES,
    responses={
        201: schemas.answer("Subscribed, and due at once", _FEED),
        200: schemas.answer("Subscribed already, under this or another spelling of the URL", _FEED),
        **problems.answers(409),
    },
)
def subscribe(body: NewFeed, request: Request, wired: Wired) -> Response:
    """Subscribes once. The feed is due at once; a crawl polls it, since the API itself makes no requests.

    The URL of a page works too: at the first poll the subscription moves to the best feed that the page names.
    `GET /feeds/{id}` then has that feed's `url` and the `page`, and `stats.last_result` has the result of the first
    poll; each step is in `/feeds/{id}/fetches`.
    """
    wired.imports.check_room()
    settings = {**body.given(), **({"backfill": True} if body.backfill else {})}
    title = settings.pop("title", None)
    spec = SubscriptionSpec(
        body.url, categories_of(body.categories), title, settings, request.state.request_id, named=True
    )
    spec = registering.checked(wired.gate, registering.with_login(spec, body.login() or ()))
    feed_id, is_new = registering.subscribe(wired.registry, wired.frontier, spec, wired.now())
    feed = listing.one(wired.registry, feed_id)
    headers = {"Location": f"{router.prefix}/{feed_id}"}
    return JSONResponse(_public(wired.config, feed), 201 if is_new else 200, headers)


@router.get("/{feed_id}", operation_id="get_feed", responses={200: schemas.answer("The feed", _ONE), **MISSING})
def get_feed(feed_id: FeedId, wired: Wired) -> Response:
    """A feed: its schedule, the hints of its publisher and its server, the results of its last polls."""
    feed = listing.one(wired.registry, str(feed_id))
    return JSONResponse(_public(wired.config, feed) | {"figures": statistics_of(wired.registry.journal(feed.id))})


@router.patch(
    "/{feed_id}",
    operation_id="change_feed",
    dependencies=WRITES,
    responses={200: schemas.answer("The changed feed", _FEED), **problems.answers(404, 409)},
)
def change_feed(feed_id: FeedId, body: Changes, wired: Wired) -> Response:
    """Changes settings of a feed, and makes it due at once."""
    feed = listing.one(wired.registry, str(feed_id))
    settings, login = body.given(), body.login()
    if body.categories is not None:
        settings["categories"] = categories_of(body.categories)
    if body.url is not None:
        url = wired.gate.passed(with_scheme(body.url))
        home = discovery.move_to(wired.registry, wired.frontier, feed, url, wired.now())
        feed = replace(feed, subscription=home)
    if settings:
        feed = replace(feed, subscription=registering.change(wired.registry, wired.frontier, feed, settings))
    if login is not None:
        registering.log_in(wired.registry, wired.frontier, feed, login)
    return JSONResponse(_public(wired.config, listing.one(wired.registry, feed.id)))


@router.delete(
    "/{feed_id}", status_code=204, operation_id="unsubscribe", dependencies=WRITES, responses=problems.answers(404)
)
def unsubscribe(feed_id: FeedId, wired: Wired) -> None:
    """Stops polling a feed; its entries and articles stay."""
    feed = listing.one(wired.registry, str(feed_id))
    registering.unsubscribe(wired.registry, wired.frontier, feed.id)


@router.post(
    "/{feed_id}/refetch",
    status_code=202,
    operation_id="refetch",
    dependencies=WRITES,
    responses={202: schemas.answer("It is due", TAKEN), **problems.answers(404, 409)},
)
def refetch(feed_id: FeedId, wired: Wired) -> Response:
    """Makes a feed due now, regardless of its schedule; its host's pace still holds. A paused feed is refused."""
    feed = listing.one(wired.registry, str(feed_id))
    registering.refetch(wired.frontier, feed)
    return JSONResponse({"id": feed.id, "next_at": rfc3339(wired.now())}, 202)


@router.post(
    "/{feed_id}/undo-migration",
    status_code=202,
    operation_id="undo_migration",
    dependencies=WRITES,
    responses={202: schemas.answer("It is due", TAKEN), **problems.answers(404, 409)},
)
def undo_migration(feed_id: FeedId, wired: Wired) -> Response:
    """Separates the entries that a migration of the last 30 days found again under new ids and links: the next poll
    brings them as new, and no later migration of this feed is believed.
    """
    feed = listing.one(wired.registry, str(feed_id))
    lineage.undo_migration(wired.registry, wired.entries, wired.frontier, feed, wired.now())
    return JSONResponse({"id": feed.id, "next_at": rfc3339(wired.now())}, 202)


@router.get(
    "/{feed_id}/entries", operation_id="list_entries_of_feed", dependencies=[HEAVY], responses={200: ENTRIES, **MISSING}
)
def list_entries_of_feed(
    feed_id: FeedId,
    request: Request,
    wired: Wired,
    *,
    since: Annotated[
        Moment | None, Query(description="entries that arrived at this time (RFC 3339) or later; default: all")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Response:
    """A feed's entries in order of arrival, with each version of an entry again, from this machine's disk.

    A page may have fewer than `limit`, or none, without being the last: continue while `next` is given.
    """
    feed = listing.one(wired.registry, str(feed_id))
    place, moment = place_of(cursor), since or datetime.min.replace(tzinfo=UTC)
    found, following = stored_entries.page(wired.entry_lines, moment, feed_id=feed.id, after=place, limit=limit)
    return shown(request, {"entries": wired.files.completed(found)}, following)


@router.get("/{feed_id}/why", operation_id="why", responses={200: schemas.answer("Why", _WHY), **MISSING})
def why(feed_id: FeedId, wired: Wired) -> Response:
    """The time of the next poll, each rule with the wait that it proposed, and the state of the feed's hub."""
    feed = listing.one(wired.registry, str(feed_id))
    push = wired.hub_subscriptions.find(feed.id)
    return JSONResponse(explained(feed, push, wired.now()))


@router.get(
    "/{feed_id}/fetches",
    operation_id="list_fetches",
    responses={
        200: schemas.answer("Its journal", FETCHES),
        **MISSING,
    },
)
def list_fetches(feed_id: FeedId, wired: Wired) -> Response:
    """The results of the last polls, the last first. `fetch_id` leads to the bytes: `GET /raw/{fetch_id}`."""
    return JSONResponse({"fetches": wired.registry.journal(listing.one(wired.registry, str(feed_id)).id)})


def _public(config: Config, feed: Feed) -> FeedRecord:
    return feed.public(min_interval_sec=config.min_interval_sec, max_interval_sec=config.max_interval_sec)
