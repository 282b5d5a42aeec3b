"""The records of watched sitemaps that other programs read.

The JSON Schemas and the tables of docs/data-format.md are generated from these classes.
"""

from typing import Annotated, Literal, TypedDict

from feedcrawl.domain.cadence.reasons import WhyCandidate
from feedcrawl.domain.schemas import About, Count, Time, Uuid, WebUrl, record


class SitemapValidators(TypedDict):
    """The publisher's validators for the known version."""

    etag: Annotated[str | None, About("ETag byte for byte as received")]
    last_modified: Annotated[str | None, About("Last-Modified as received")]


class SitemapSchedule(TypedDict):
    """The time of the next poll, and its reason."""

    interval_sec: Annotated[Count | None, About("Seconds between the last poll and the next")]
    min_interval_sec: Annotated[Count, About("Least interval")]
    max_interval_sec: Annotated[Count, About("Greatest interval")]
    next_at: Annotated[
        Time | None,
        About(
            "Time of the next poll by the schedule, null before the first; a sitemap that was made due is polled before"
        ),
    ]
    reason: Annotated[str | None, About("Reason code of that time")]


class SitemapStats(TypedDict):
    """Results of the polls."""

    last_fetch_at: Annotated[Time | None, About("Last poll")]
    last_success_at: Annotated[Time | None, About("Last poll with a usable response")]
    last_status: Annotated[int | None, About("HTTP status of the last poll")]
    last_result: Annotated[str | None, About("Result of the last poll, as in a journal line")]
    consecutive_failures: Annotated[Count, About("Consecutive polls without a usable response")]
    last_item_count: Annotated[Count, About("URLs or parts in the last document that was read")]
    waiting: Annotated[Count, About("URLs that the last poll left for the next")]
    news_at: Annotated[Time | None, About("Last change of the document, or last poll with a new URL")]


@record("sitemap", "Sitemap")
class SitemapPublicRecord(TypedDict):
    """A watched sitemap, as `scrapy feeds --sitemaps` lists it."""

    id: Annotated[Uuid, About("Stays for as long as the sitemap is watched")]
    url: Annotated[WebUrl, About("URL of the sitemap")]
    kind: Annotated[
        Literal["index", "urlset", "text"] | None, About("Kind of the document; null before the first was read")
    ]
    categories: Annotated[list[str], About("Labels for the sitemap's articles")]
    source: Annotated[str | None, About("Source that names the sitemap")]
    priority: Annotated[int, About("Priority of its articles before the bonus: 1 (last) to 10", minimum=1, maximum=10)]
    root: Annotated[Uuid | None, About("Of a part of an index: the sitemap at the top of its tree")]
    depth: Annotated[Count, About("Levels of indexes above the sitemap")]
    is_guess: Annotated[bool, About("True if the address is only a usual one; dropped if no sitemap is found there")]
    added_at: Annotated[Time | None, About("Time since which the sitemap is watched")]
    validators: Annotated[SitemapValidators, About("The publisher's validators for the known version")]
    schedule: Annotated[SitemapSchedule, About("The time of the next poll, and its reason")]
    stats: Annotated[SitemapStats, About("Results of the polls")]


class SitemapWhyRecord(TypedDict):
    """The time of a sitemap's next poll, and how it was chosen."""

    id: Annotated[Uuid, About("Id of the sitemap")]
    url: Annotated[WebUrl, About("URL of the sitemap")]
    next_at: Annotated[
        Time | None,
        About(
            "Time of the next poll by the schedule, null before the first; a sitemap that was made due is polled before"
        ),
    ]
    interval_sec: Annotated[float | None, About("Seconds between the last poll and the next")]
    reason: Annotated[str | None, About("Reason code of that time")]
    because: Annotated[str | None, About("The reason in words")]
    candidates: Annotated[list[WhyCandidate], About("Each rule with the wait that it proposed")]
    last_fetch_at: Annotated[Time | None, About("Last poll")]
    last_success_at: Annotated[Time | None, About("Last poll with a usable response")]
    last_result: Annotated[str | None, About("Result of the last poll")]
    last_status: Annotated[int | None, About("HTTP status of the last poll")]
    consecutive_failures: Annotated[Count, About("Consecutive polls without a usable response")]
    last_item_count: Annotated[Count, About("URLs or parts in the last document that was read")]
    waiting: Annotated[Count, About("URLs that the last poll left for the next")]
