"""The records of subscribed feeds and their polls that other programs read.

The JSON Schemas and the tables of docs/data-format.md are generated from these classes.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

from feedcrawl.domain.cadence.reasons import WhyCandidate
from feedcrawl.domain.schemas import About, Count, Positive, Time, Uuid, WebUrl, record

Day = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


class FeedValidators(TypedDict):
    """The publisher's validators for the known version."""

    etag: Annotated[str | None, About("ETag byte for byte as received (non-UTF-8 bytes as lone surrogates)")]
    last_modified: Annotated[str | None, About("Last-Modified as received")]
    not_sent: Annotated[
        list[str],
        About(
            "Validators that are not sent, with the reason: etag: constant, restless, deaf; last_modified:"
            " constant, future, deaf"
        ),
    ]


class FeedSchedule(TypedDict):
    """The time of the next poll, and its reason."""

    interval_sec: Annotated[Count | None, About("Seconds between the last poll and the next")]
    min_interval_sec: Annotated[Count, About("Least interval")]
    max_interval_sec: Annotated[Count, About("Greatest interval")]
    fixed_interval_sec: Annotated[Count | None, About("Interval fixed by an operator; null if the cadence decides")]
    push_only: Annotated[
        bool, About("True if the feed is polled at its longest interval only, as a safety net for deliveries")
    ]
    last_decision_at: Annotated[Time | None, About("Time of the last decision on the interval")]
    next_at: Annotated[
        Time | None, About("Time of the next poll by the schedule; a feed that was made due is polled before")
    ]
    reason: Annotated[str | None, About("Reason code of that time")]
    retry_after_sec: Annotated[Count | None, About("Retry-After of the last response")]


class FeedPublisherHints(TypedDict):
    """The feed's own hints about the time of polls."""

    ttl_minutes: Annotated[float | None, About("`ttl` of RSS")]
    skip_hours: Annotated[list[Annotated[int, About(minimum=0, maximum=23)]] | None, About("Hours (GMT) without news")]
    skip_days: Annotated[list[Day] | None, About("Days without news")]


class FeedStats(TypedDict):
    """Results of the polls."""

    last_fetch_at: Annotated[Time | None, About("Last poll")]
    last_success_at: Annotated[Time | None, About("Last poll with a usable response")]
    last_status: Annotated[Count | None, About("HTTP status of the last poll")]
    last_result: Annotated[str | None, About("Result of the last poll, as in a journal line")]
    consecutive_failures: Annotated[Count, About("Consecutive polls without a usable response")]
    ewma_interarrival_sec: Annotated[Count | None, About("Mean time between entries")]
    new_entries_last_fetch: Annotated[Count, About("New entries of the last poll")]
    last_item_count: Annotated[Count, About("Entries in the last document that was read")]
    possibly_missed: Annotated[
        Count, About("Polls that showed no known entry: entries may have come and gone before them")
    ]
    quiet_since: Annotated[
        Time | None, About("Poll that found the feed quiet against its own last weeks; null once it has news")
    ]


@record("feed", "Feed")
class FeedRecord(TypedDict):
    """A subscribed feed, as `scrapy feeds` lists it."""

    id: Annotated[Uuid, About("Stays for the life of the subscription, even if the URL changes")]
    url: Annotated[WebUrl, About("The subscribed URL")]
    type: Annotated[str, About("Family of the format; unknown before the first document was read", pattern="^[a-z]+$")]
    title: Annotated[str | None, About("The operator's title, else the feed's")]
    site_url: Annotated[str | None, About("The site that the feed names as its own")]
    categories: Annotated[list[str], About("Labels for the feed's articles")]
    added_at: Annotated[Time | None, About("Time of the subscription")]
    request_id: Annotated[str | None, About("The API request that subscribed the feed")]
    page: Annotated[WebUrl | None, About("The page on which the feed was found, if a page was subscribed")]
    formerly: Annotated[list[str], About("Addresses that the feed has moved from, the last one last")]
    paused: Annotated[bool, About("True if the feed is not polled until it is resumed")]
    entries_only: Annotated[bool, About("True if the articles of its entries are not fetched")]
    user_agent: Annotated[str | None, About("User-Agent of its polls; null for the crawler's own")]
    keep_rules: Annotated[str, About("Rules, one FIELD=PATTERN a line: entries that match none are left out")]
    drop_rules: Annotated[str, About("Rules, one FIELD=PATTERN a line: entries that match one are left out")]
    private: Annotated[
        list[str], About("Names of the request headers stored for this feed; their values are never shown")
    ]
    validators: Annotated[FeedValidators, About("The publisher's validators for the known version")]
    schedule: Annotated[FeedSchedule, About("The time of the next poll, and its reason")]
    publisher_hints: Annotated[FeedPublisherHints, About("The feed's own hints about the time of polls")]
    stats: Annotated[FeedStats, About("Results of the polls")]


@record("journal_line", "Journal line")
class JournalLineRecord(TypedDict):
    """One poll of a feed (see `scrapy why`) or sitemap; fields that are empty, zero or unknown are left out."""

    poll_id: Annotated[
        str,
        About(
            "<id of the feed or sitemap>@<time for which the poll was planned>; the same if a poll is "
            "repeated after a kill"
        ),
    ]
    at: Annotated[Time, About("Time at which the response was read")]
    http_status: NotRequired[Annotated[int, About("Status of the response", minimum=100, maximum=999)]]
    result: Annotated[
        str,
        About(
            "fetched, not_modified, unchanged (the same body, or the same content), push (a delivery from the "
            "feed's hub), archives_read (a walk through archives ended), gap_filled (from "
            "sitemaps), skipped (a due poll that was not made; reason says why), moved (by an operator), "
            "migration_undone (by an operator), or the reason code of the failure"
        ),
    ]
    detail: NotRequired[Annotated[str, About("Description of the failure, for people")]]
    offered: NotRequired[
        Annotated[list[str], About("Of a page that was subscribed: the feeds that it names, at most ten")]
    ]
    new: NotRequired[Annotated[Positive, About("New entries or URLs")]]
    changed: NotRequired[Annotated[Positive, About("Changed entries or URLs")]]
    known: NotRequired[Annotated[Positive, About("Known entries")]]
    deleted: NotRequired[Annotated[Positive, About("Entries that a complete feed has no longer")]]
    over_limit: NotRequired[Annotated[Positive, About("New entries left for the next poll")]]
    possibly_missed: NotRequired[
        Annotated[bool, About("True if no entry of the last poll is left: some may have come and gone")]
    ]
    migrated: NotRequired[
        Annotated[
            bool,
            About(
                "True if most entries came under new ids or links and were found again: by place, or by title and date"
            ),
        ]
    ]
    asked: NotRequired[
        Annotated[
            Literal["probe", "test"],
            About("Test of the validators: request without any (probe), or with those of an older version (test)"),
        ]
    ]
    moved_from: NotRequired[Annotated[str, About("The address that the feed moved from with this line")]]
    moved_to: NotRequired[Annotated[str, About("The address that the feed moved to")]]
    bytes: NotRequired[Annotated[Positive, About("Bytes of the decoded body")]]
    wire_bytes: NotRequired[Annotated[Positive, About("Bytes of the body as received, in its content codings")]]
    duration_sec: NotRequired[Annotated[float, About("Seconds from the request to the response")]]
    outgoing: NotRequired[
        Annotated[str, About("Local address or proxy (without credentials) of the request, where one is configured")]
    ]
    fetch_id: NotRequired[Annotated[Uuid, About("The request and response in the archive")]]
    reason: Annotated[str, About("Reason code of the time of the next poll")]
    interval_before_sec: NotRequired[Annotated[float, About("Interval before this poll")]]
    interval_after_sec: Annotated[float, About("Interval after this poll")]
    next_at: Annotated[Time, About("Time of the next poll")]
    kind: NotRequired[Annotated[Literal["index", "urlset", "text"], About("Of a sitemap: its kind")]]
    urls: NotRequired[Annotated[Positive, About("Of a sitemap: URLs that it lists")]]
    old: NotRequired[Annotated[Positive, About("Of a sitemap: URLs too old to be news")]]
    refused: NotRequired[Annotated[Positive, About("Of a sitemap: URLs that it may not list, and invalid ones")]]
    waiting: NotRequired[Annotated[Positive, About("Of a sitemap: URLs left for the next poll")]]
    trace_id: NotRequired[
        Annotated[
            str,
            About(
                "Trace of this poll and of the articles that it led to; set if polls are traced",
                pattern="^[0-9a-f]{32}$",
            ),
        ]
    ]
    archives: NotRequired[
        Annotated[
            str,
            About(
                "Of a feed: how the walk through its archives began (prev_archive, next) or ended (end, complete,"
                " overlap, loop, limit, or a reason code)"
            ),
        ]
    ]
    documents: NotRequired[Annotated[Positive, About("Of a walk that ended: archive documents that were read")]]
    notes: NotRequired[Annotated[list[str], About("Faults of the document that were tolerated")]]


class WhyHub(TypedDict):
    """The feed's WebSub subscription."""

    url: Annotated[str, About("URL of the hub")]
    state: Annotated[str, About("State of the subscription")]
    reason: Annotated[str | None, About("Reason code of that state")]
    lease_until: Annotated[Time | None, About("End of the hub's lease")]
    pushes: Annotated[Count, About("Number of deliveries")]
    last_push_at: Annotated[Time | None, About("Time of the last delivery")]
    misses: Annotated[Count, About("Entries that polls found before the hub sent them")]
    relied_on: Annotated[bool, About("True if deliveries replace most polls")]


class WhyRecord(TypedDict):
    """The time of a feed's next poll, and how it was chosen."""

    id: Annotated[Uuid, About("Id of the feed")]
    url: Annotated[WebUrl, About("URL of the feed")]
    title: Annotated[str | None, About("Title of the feed")]
    next_at: Annotated[
        Time | None, About("Time of the next poll by the schedule; a feed that was made due is polled before")
    ]
    interval_sec: Annotated[float | None, About("Seconds between the last poll and the next")]
    reason: Annotated[str | None, About("Reason code of that time")]
    because: Annotated[str | None, About("The reason in words")]
    candidates: Annotated[list[WhyCandidate], About("Each rule with the wait that it proposed")]
    new_entries_per_day: Annotated[float | None, About("Rate of new entries")]
    mean_delay_sec: Annotated[float | None, About("Mean time in which a new entry is found")]
    not_sent: Annotated[list[str], About("Validators that are not sent, with the reason")]
    last_item_count: Annotated[Count, About("Entries in the last document that was read")]
    possibly_missed: Annotated[Count, About("Polls between which entries may have come and gone")]
    quiet_since: Annotated[Time | None, About("Poll that found the feed quiet against its own last weeks")]
    last_fetch_at: Annotated[Time | None, About("Last poll")]
    last_success_at: Annotated[Time | None, About("Last poll with a usable response")]
    last_result: Annotated[str | None, About("Result of the last poll")]
    last_status: Annotated[int | None, About("HTTP status of the last poll")]
    consecutive_failures: Annotated[Count, About("Consecutive polls without a usable response")]
    hub: Annotated[WhyHub | None, About("WebSub subscription; null if the feed names no hub")]
