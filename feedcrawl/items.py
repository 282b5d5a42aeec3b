"""The items that spiders yield and pipelines complete.

One poll is one item, however many entries it has, and one page is one item, an article or a failure: an item carries
the lease of its task, and the last pipeline ends the task together with all writes of the item.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from feedcrawl.domain.articles.fields import ArticleFields
from feedcrawl.domain.operations.counters import GOOD_POLLS
from feedcrawl.domain.sites.owners import Sources

if TYPE_CHECKING:
    from datetime import datetime

    from feedcrawl.domain.articles.merging import Known, Target
    from feedcrawl.domain.articles.page_records import FileState
    from feedcrawl.domain.articles.records import MergeRecord
    from feedcrawl.domain.cadence import Decision
    from feedcrawl.domain.entries.identity import Identified
    from feedcrawl.domain.entries.lineage import IdRecord, KnownEntry
    from feedcrawl.domain.entries.recognition import RecognisedEntry
    from feedcrawl.domain.entries.records import EntryRecord
    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.http.conditional import Validators
    from feedcrawl.domain.http.validators import Kind
    from feedcrawl.domain.models import Extraction, ParsedFeed
    from feedcrawl.domain.publisher_hints import PublisherHints
    from feedcrawl.domain.push.leases import HubSubscription
    from feedcrawl.domain.push.protocol import Topic
    from feedcrawl.domain.subscriptions.archives import Step, Walk
    from feedcrawl.domain.subscriptions.records import Feed, Subscription
    from feedcrawl.store.disk.raw_index import RawRef
    from feedcrawl.store.frontier.interface import Signal
    from feedcrawl.store.redis.client import Pipeline


@dataclass(frozen=True, slots=True)
class ComparedEntries:
    """The entries of a document, compared with the known entries of its feed."""

    new: tuple[EntryRecord, ...] = ()
    changed: tuple[EntryRecord, ...] = ()
    edited: tuple[EntryRecord, ...] = ()
    """Entries with the same content and a newer date of change: their articles may have changed."""
    deleted: tuple[KnownEntry, ...] = ()
    """Entries that a complete feed (RFC 5005 section 2) has no longer."""
    known: int = 0
    over_limit: int = 0
    sightings: tuple[RecognisedEntry, ...] = ()
    identity: IdRecord | None = None
    migrated: bool = False
    waits: bool = False
    """True if the change of an entry is reported later, so that the same document must be read again."""
    possibly_missed: bool = False
    """True if entries may have come and gone since the last poll."""

    @property
    def written(self) -> tuple[EntryRecord, ...]:
        """The entries of which a line is written: the new and the changed."""
        return (*self.new, *self.changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requested:
    """The request of a poll of a feed or of a sitemap: its task, and the conditions under which the task was taken."""

    lease: Lease
    poll_id: str
    sources: Sources = field(default_factory=Sources)
    """The sources whose settings hold for the URLs of the document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedRequested(Requested):
    """The request of a feed's document, of a document of its archives, or the task of its hub's delivery."""

    feed: Feed
    kind: Kind = "plain"
    """The purpose of the validators of the request."""
    push: HubSubscription | None = None
    """The stored state of the feed's subscription at its hub."""
    deliveries: int = 0
    """Deliveries of the hub that waited when this document was taken from them; 0 for a document that was requested."""

    @property
    def is_delivery(self) -> bool:
        """True if the document came from the hub; it may then lack entries of the feed."""
        return self.deliveries > 0

    @property
    def is_archive(self) -> bool:
        """True if the document is one of the feed's archives and not the feed itself."""
        return self.lease.task.kind == "archive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """The response to a poll of a feed or of a sitemap, or the reason why there is none."""

    at: datetime
    status: int | None
    result: str
    """`fetched`, `not_modified`, `unchanged`, or the reason code of the failure."""
    detail: str = ""
    validators: Validators | None = None
    body_hash: str | None = None
    body_bytes: int = 0
    wire_bytes: int = 0
    """Bytes of the body as received, in its content codings."""
    retry_after_sec: float | None = None
    max_age_sec: float | None = None
    duration_sec: float | None = None
    outgoing: str | None = None
    """The local address or proxy by which the request left, if one is configured."""
    signal: Signal | None = None

    @property
    def failed(self) -> bool:
        """True if the poll brought no usable response."""
        return self.result not in GOOD_POLLS


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedReceived(Received):
    """The response to a poll of a feed, and the document that was read from it."""

    fetch_id: str | None = None
    raw_ref: RawRef | None = None
    final_url: str | None = None
    moved_to: str | None = None
    """The target of permanent redirects; None if there were none, or also temporary ones."""
    digest: str | None = None
    parsed: ParsedFeed | None = None
    hints: PublisherHints | None = None
    identified: tuple[Identified, ...] = ()
    topic: Topic | None = None
    """The hub that the response names."""


@dataclass(frozen=True, slots=True)
class WalkStep:
    """The walk through a feed's archives, begun by a poll or continued by an archive document, and its next step."""

    walk: Walk
    step: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedFound:
    """The findings about a feed by comparison with its stored state."""

    entries: ComparedEntries = field(default_factory=ComparedEntries)
    searched: bool = False
    """True if the feed was searched for at other addresses."""
    found_at: str | None = None
    """The address at which a lost feed was recognised by its entries."""
    onward: WalkStep | None = None
    """The next step through the archives; None if the poll requests none."""


@dataclass(frozen=True, repr=False)
class FeedPoll:
    """One poll of one feed, from the response to the commit. Each step returns a new value."""

    requested: FeedRequested
    received: FeedReceived
    found: FeedFound = field(default_factory=FeedFound)
    type: Literal["poll"] = "poll"

    def __repr__(self) -> str:
        return f"<poll {self.feed.subscription.url} {self.received.result} new={len(self.found.entries.new)}>"

    @property
    def lease(self) -> Lease:
        """The lease of the poll's task."""
        return self.requested.lease

    @property
    def feed(self) -> Feed:
        """The feed as it was stored before the poll."""
        return self.requested.feed

    def judged(self, detail: str, result: str | None = None) -> FeedPoll:
        """The poll with another detail, and another result if one is given."""
        result = self.received.result if result is None else result
        return replace(self, received=replace(self.received, result=result, detail=detail))


@dataclass(frozen=True, slots=True)
class Decided:
    """The consequences of a poll: the time of the next poll, and the feed's address."""

    decision: Decision
    demand: float
    """The feed's part in the demand of the fleet until its next poll, in polls per second at tempo 1."""
    subscription: Subscription
    """At its new address if the feed has moved for good, otherwise as before the poll."""


@dataclass(repr=False)
class Article:
    """One page: an article, or the failure that it ended in."""

    lease: Lease
    url: str
    at: datetime
    status: Literal["success", "failure"]
    final_url: str | None = None
    http_status: int | None = None
    content_type: str | None = None
    code: str | None = None
    reason: str = ""
    detail: str = ""
    dead_letter: bool = False
    html: str | None = None
    extraction: Extraction | None = None
    started_at: datetime | None = None
    rendered: bool = False
    """True if `html` is the page after its scripts ran."""
    validators: Validators | None = None
    fetch_id: str | None = None
    outgoing: str | None = None
    """The local address or proxy by which the request left, if one is configured."""
    uid: str = ""
    canonical_url: str = ""
    content_hash: str = ""
    categories: list[str] = field(default_factory=list)
    files: list[FileState] = field(default_factory=list)
    record: ArticleFields = field(default_factory=ArticleFields)
    merged_into: str | None = None
    """The uid of the article that this one is merged into; it may be the article's own uid."""
    target: Target | None = None
    merge: MergeRecord | None = None
    """The stored record of the merge of two articles, if they were merged."""
    known: Known = field(default=None)  # type: ignore[assignment]  # set by the dedupe step, for the steps after it
    updated: bool = False
    ended: bool = False
    """True if the frontier has ended the task already (its fourth site-wide failure)."""
    writes: Pipeline | None = None
    type: Literal["article"] = "article"

    def __repr__(self) -> str:
        return f"<article {self.url} {self.status} {self.reason}>"
