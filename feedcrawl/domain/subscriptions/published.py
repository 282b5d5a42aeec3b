"""Subscribed feeds and their polls as other programs read them.

The JSON Schemas and the tables of docs/data-format.md are generated from these classes.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

from feedcrawl.domain.schemas import About, Count, Positive, Time, Uuid, WebUrl, record


class FeedValidators(TypedDict):
    """What the publisher said of the version that is known."""

    etag: Annotated[str | None, About("ETag byte for byte as received (bytes that are no UTF-8 as lone surrogates)")]
    last_modified: Annotated[str | None, About("Last-Modified as received")]
    not_sent: Annotated[
        list[str],
        About(
            "Which of them is not sent, and why: etag: constant, restless, deaf; last_modified: constant, future, deaf"
        ),
    ]


class FeedSchedule(TypedDict):
    """When it is polled, and why."""

    interval_sec: Annotated[Count | None, About("Seconds between the last poll and the next")]
    min_interval_sec: Annotated[Count, About("Shortest interval")]
    max_interval_sec: Annotated[Count, About("Longest interval")]
    fixed_interval_sec: Annotated[Count | None, About("The interval that an operator has fixed")]
    push_only: Annotated[bool, About("Polled as a safety net only")]
    last_decision_at: Annotated[Time | None, About("When the interval was chosen")]
    next_at: Annotated[Time | None, About("When it is polled next")]
    reason: Annotated[str | None, About("Why then, machine-readable")]
    retry_after_sec: Annotated[Count | None, About("What the last answer asked for")]


class FeedPublisherHints(TypedDict):
    """What the feed says about when to come."""

    ttl_minutes: Annotated[float | None, About("RSS ttl")]
    skip_hours: Annotated[list[Annotated[int, About(minimum=0, maximum=23)]] | None, About("Hours (GMT) without news")]
    skip_days: Annotated[
        list[Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]] | None, About("Days without news")
    ]


class FeedStats(TypedDict):
    """What the polls came to."""

    last_fetch_at: Annotated[Time | None, About("Last poll")]
    last_success_at: Annotated[Time | None, About("Last poll with a usable answer")]
    last_status: Annotated[Count | None, About("HTTP status of the last poll")]
    last_result: Annotated[str | None, About("As result of a journal line")]
    consecutive_failures: Annotated[Count, About("Polls in a row without a usable answer")]
    ewma_interarrival_sec: Annotated[Count | None, About("Mean time between entries")]
    new_entries_last_fetch: Annotated[Count, About("New entries of the last poll")]
    possibly_missed: Annotated[
        Count, About("Polls that showed nothing known: entries may have come and gone before them")
    ]


@record("feed", "Feed")
class FeedRecord(TypedDict):
    """A subscribed feed, as `scrapy feeds` lists it."""

    id: Annotated[Uuid, About("Stable for the life of the subscription, also when the URL changes")]
    url: Annotated[WebUrl, About("The subscribed URL")]
    type: Annotated[
        str, About("The family of formats; unknown before the first answer that could be read", pattern="^[a-z]+$")
    ]
    title: Annotated[str | None, About("The operator's, else the feed's own")]
    site_url: Annotated[str | None, About("The site that the feed says it belongs to")]
    categories: Annotated[list[str], About("Labels that its articles get")]
    added_at: Annotated[Time | None, About("When it was subscribed to")]
    request_id: Annotated[str | None, About("Which request to the API subscribed it")]
    page: Annotated[
        WebUrl | None, About("The page that was named instead of the feed, where its feed was found on one")
    ]
    formerly: Annotated[list[str], About("Addresses that it has moved from, the last one last")]
    validators: Annotated[FeedValidators, About("What the publisher said of the version that is known")]
    schedule: Annotated[FeedSchedule, About("When it is polled, and why")]
    publisher_hints: Annotated[FeedPublisherHints, About("What the feed says about when to come")]
    stats: Annotated[FeedStats, About("What the polls came to")]


@record("journal_line", "Journal line")
class JournalLineRecord(TypedDict):
    """One poll of one feed, as `scrapy why` shows it, or of one sitemap; fields that are empty, zero or unknown are
    left out.
    """

    poll_id: Annotated[
        str,
        About(
            "<id of the feed or sitemap>@<time for which the poll was planned>; the same if a poll is "
            "repeated after a kill"
        ),
    ]
    at: Annotated[Time, About("When the answer was read")]
    http_status: NotRequired[Annotated[int, About("Status of the answer", minimum=100, maximum=999)]]
    result: Annotated[
        str,
        About(
            "fetched, not_modified, unchanged (a body read before, or one that says the same), push (its hub "
            "has sent it), archives_read (a walk through archives ended), moved (by an operator), or the "
            "reason code of what went wrong"
        ),
    ]
    detail: NotRequired[Annotated[str, About("What went wrong, for people")]]
    new: NotRequired[Annotated[Positive, About("New entries or URLs")]]
    changed: NotRequired[Annotated[Positive, About("Changed entries or URLs")]]
    known: NotRequired[Annotated[Positive, About("Entries known already")]]
    over_limit: NotRequired[Annotated[Positive, About("New entries left for the next poll")]]
    possibly_missed: NotRequired[
        Annotated[bool, About("None of the entries that the last poll showed is left: some may have come and gone")]
    ]
    asked: NotRequired[
        Annotated[
            Literal["probe", "test"],
            About("How validators were put to the test: without any (probe), or with those of an older version (test)"),
        ]
    ]
    moved_from: NotRequired[Annotated[str, About("The address that the feed has left with this line")]]
    moved_to: NotRequired[Annotated[str, About("The address where it lives from now on")]]
    bytes: NotRequired[Annotated[Positive, About("Decoded body")]]
    duration_sec: NotRequired[Annotated[float, About("From the request to the answer")]]
    fetch_id: NotRequired[Annotated[Uuid, About("The exchange in the archive")]]
    reason: Annotated[str, About("Why the next poll is when it is")]
    interval_before_sec: NotRequired[Annotated[float, About("Interval that led here")]]
    interval_after_sec: Annotated[float, About("Interval from here")]
    next_at: Annotated[Time, About("When the next poll is due")]
    kind: NotRequired[Annotated[Literal["index", "urlset", "text"], About("Of a sitemap: its kind")]]
    urls: NotRequired[Annotated[Positive, About("Of a sitemap: URLs that it lists")]]
    old: NotRequired[Annotated[Positive, About("Of a sitemap: URLs too old to be news")]]
    refused: NotRequired[Annotated[Positive, About("Of a sitemap: URLs that it may not speak for, or that are none")]]
    waiting: NotRequired[Annotated[Positive, About("Of a sitemap: URLs left for the next poll")]]
    trace_id: NotRequired[
        Annotated[
            str,
            About(
                "Where polls are traced: the trace that this one is in, with the articles that came of it",
                pattern="^[0-9a-f]{32}$",
            ),
        ]
    ]
    archives: NotRequired[
        Annotated[
            str,
            About(
                "Of a feed: how the walk through its archives began (prev_archive, next) or ended (end, complete,"
                " overlap, loop, limit, or what went wrong)"
            ),
        ]
    ]
    documents: NotRequired[Annotated[Positive, About("Of a walk that ended: archive documents that were read")]]
    notes: NotRequired[Annotated[list[str], About("Faults of the document that were read past")]]
