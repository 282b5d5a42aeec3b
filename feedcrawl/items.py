"""What spiders yield and pipelines complete. Read through itemadapter; `record()` is what other programs see of one.

One poll is one item however many entries it holds, and one page one item whatever came of it: an item carries the lease
of its task, and the last pipeline ends the task together with all that the item brought.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from feedcrawl.domain.articles.fields import ArticleFields
from feedcrawl.domain.sites.owners import Sources

if TYPE_CHECKING:
    from datetime import datetime

    from feedcrawl.domain.articles.merging import Known, Target
    from feedcrawl.domain.articles.page_records import FileState
    from feedcrawl.domain.articles.records import MergeRecord
    from feedcrawl.domain.cadence import Decision
    from feedcrawl.domain.entries.identity import Identified
    from feedcrawl.domain.entries.lineage import IdRecord, KnownEntry
    from feedcrawl.domain.entries.recognition import Sighting
    from feedcrawl.domain.entries.records import EntryAuthors, EntryEnclosures, EntryRawRefs
    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.http.conditional import Validators
    from feedcrawl.domain.http.validators import Kind
    from feedcrawl.domain.models import Extraction, ParsedFeed, PublisherHints
    from feedcrawl.domain.push.leases import Push
    from feedcrawl.domain.push.protocol import Topic
    from feedcrawl.domain.subscriptions.archives import Step, Walk
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.store.disk.raw_index import RawRef
    from feedcrawl.store.frontier.interface import Signal
    from feedcrawl.store.redis.client import Pipeline


@dataclass
class Entry:
    """One entry of a feed, in the shape of docs/data-format.md; times are RFC 3339."""

    entry_uid: str
    feed_id: str
    feed_url: str
    canonical_link: str | None
    title: str | None
    summary: str | None
    content: str | None
    authors: list[EntryAuthors]
    categories: list[str]
    enclosures: list[EntryEnclosures]
    published: str | None
    updated: str | None
    first_seen: str
    last_seen: str
    seen_count: int
    content_hash: str
    article_uid: str | None = None
    link: str | None = None
    published_raw: str | None = None
    language: str | None = None
    image: str | None = None
    raw_refs: list[EntryRawRefs] = field(default_factory=list)
    raw: str | None = None
    revision: int = 1
    files: list[FileState] = field(default_factory=list)
    type: Literal["entry"] = "entry"


@dataclass(frozen=True, slots=True)
class ComparedEntries:
    """The entries of a document, compared with the known entries of its feed."""

    new: tuple[Entry, ...] = ()
    changed: tuple[Entry, ...] = ()
    edited: tuple[Entry, ...] = ()
    """Entries with the same content and a newer date of change: their articles may have changed."""
    deleted: tuple[KnownEntry, ...] = ()
    """Entries that a complete feed (RFC 5005 section 2) has no longer."""
    known: int = 0
    over_limit: int = 0
    sightings: tuple[Sighting, ...] = ()
    identity: IdRecord | None = None
    migrated: bool = False
    waits: bool = False
    """Whether a change of some entry is reported later, so that the same document must be read again."""
    possibly_missed: bool = False
    """Whether entries may have come and gone since the last poll."""


@dataclass(repr=False)
class Poll:
    """What a poll of a feed and a poll of a sitemap have in common, from the response to the commit."""

    lease: Lease
    poll_id: str
    at: datetime
    status: int | None
    result: str
    """`fetched`, `not_modified`, `unchanged`, or the reason code of the failure."""
    validators: Validators | None = field(default=None, kw_only=True)
    body_hash: str | None = field(default=None, kw_only=True)
    body_bytes: int = field(default=0, kw_only=True)
    retry_after_sec: float | None = field(default=None, kw_only=True)
    max_age_sec: float | None = field(default=None, kw_only=True)
    duration_sec: float | None = field(default=None, kw_only=True)
    wire_bytes: int = field(default=0, kw_only=True)
    """Bytes of the body as received, in its content codings."""
    outgoing: str | None = field(default=None, kw_only=True)
    """The local address or proxy by which the request left, if one is configured."""
    detail: str = field(default="", kw_only=True)
    signal: Signal | None = field(default=None, kw_only=True)
    sources: Sources = field(default_factory=Sources, kw_only=True)
    """The sources whose settings hold for the URLs of the document."""
    decision: Decision | None = field(default=None, kw_only=True)

    @property
    def failed(self) -> bool:
        """Whether the poll brought no usable response."""
        return self.result not in ("fetched", "not_modified", "unchanged")


@dataclass(repr=False)
class FeedPoll(Poll):
    """One poll of one feed, from the response to the commit."""

    feed: Feed
    asked: Kind = "plain"
    """To what end validators were sent, or none."""
    digest: str | None = None
    parsed: ParsedFeed | None = None
    hints: PublisherHints | None = None
    fetch_id: str | None = None
    raw_ref: RawRef | None = None
    final_url: str | None = None
    moved_to: str | None = None
    """Where permanent redirects, and no others, led."""
    identified: tuple[Identified, ...] = ()
    entries: ComparedEntries = field(default_factory=ComparedEntries)
    searched: bool = False
    found_at: str | None = None
    """Where a feed that was lost has been found again, by its entries."""
    moved_from: str | None = None
    demand: float = 0.0
    """What it adds to the demand of the fleet until its next poll, in polls per second at tempo 1."""
    push: Push | None = None
    """What is known of the feed's hub, and what the answer names as such."""
    topic: Topic | None = None
    pushed: bool = False
    """Whether the document came from the hub, and need not be whole."""
    waiting: int = 0
    """Deliveries of the hub that were there when this one was taken."""
    walk: Walk | None = None
    step: Step | None = None
    """The walk through the feed's archives, and its next step: begun by a poll, gone on with by archive documents."""
    writes: Pipeline | None = None
    """Redis commands that the store step queues and the publish step sends, in one round trip."""
    type: Literal["poll"] = "poll"

    def __repr__(self) -> str:
        return f"<poll {self.feed.subscription.url} {self.result} new={len(self.entries.new)}>"

    @property
    def is_archive(self) -> bool:
        """Whether the document is one of the feed's archives and not the feed itself."""
        return self.lease.task.kind == "archive"


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
    """Whether `html` is the page as it was once its scripts had run."""
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
    """The article whose story this one is, be it under the same uid."""
    target: Target | None = None
    merge: MergeRecord | None = None
    """How two articles became one, where they did, as it is kept."""
    known: Known = field(default=None)  # type: ignore[assignment]  # set by the dedupe step, for the steps after it
    updated: bool = False
    ended: bool = False
    """Whether the frontier has ended the task already (its fourth site-wide failure)."""
    writes: Pipeline | None = None
    type: Literal["article"] = "article"

    def __repr__(self) -> str:
        return f"<article {self.url} {self.status} {self.reason}>"
