"""Records that other programs read or write: dead letters, and items of the input queue.

The JSON Schemas and the tables of docs/data-format.md are generated from these classes.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

from feedcrawl.domain.schemas import About, Alternative, Count, HttpStatus, Positive, Sha256, Time, WebUrl, record

DEAD_LETTER_EITHER: tuple[Alternative, ...] = (
    {"required": ["url", "uid", "kind", "attempts"], "properties": {"item": False, "detail": False}},
    {
        "required": ["item", "detail"],
        "properties": {
            "url": False,
            "uid": False,
            "kind": False,
            "status": False,
            "attempts": False,
            "category": False,
            "priority": False,
            "source": False,
            "origin": False,
            "parent": False,
            "depth": False,
            "payload": False,
        },
    },
)


@record("dead_letter", "Dead letter", *DEAD_LETTER_EITHER)
class DeadLetterRecord(TypedDict):
    """An element of page_fetcher_dlq: a URL that was given up, or an item of crawler_queue that could not be read."""

    url: NotRequired[Annotated[WebUrl, About("The URL that was given up")]]
    uid: NotRequired[
        Annotated[
            str,
            About(
                "Id of the task: an article's uid, page:<digest> for requests of other spiders, file:<digest> for"
                " media files"
            ),
        ]
    ]
    kind: NotRequired[
        Annotated[Literal["article", "page", "archive", "gap", "file", "listing"], About("Kind of the task")]
    ]
    reason: Annotated[str, About("Reason code (http_404, total_timeout, …)")]
    status: NotRequired[Annotated[HttpStatus, About("Last HTTP status")]]
    attempts: NotRequired[Annotated[Count, About("Number of attempts that counted before the last attempt")]]
    at: Annotated[float, About("Unix time at which the URL was given up or the item was refused")]
    category: NotRequired[Annotated[str, About("Category of the task")]]
    priority: NotRequired[
        Annotated[int, About("Priority of the task: 1 (taken last) to 10 (taken first)", minimum=1, maximum=10)]
    ]
    source: NotRequired[Annotated[str, About("Source (site) of the URL")]]
    origin: NotRequired[Annotated[Literal["feed", "sitemap", "spider", "manual", "queue"], About("Origin of the URL")]]
    parent: NotRequired[Annotated[str, About("Feed or sitemap that listed the URL")]]
    depth: NotRequired[Annotated[Positive, About("Number of links followed to the URL")]]
    payload: NotRequired[
        Annotated[
            str,
            About("JSON text: payload of the task (feed_id, entry_uid, title, categories, …), used by the next try"),
        ]
    ]
    item: NotRequired[Annotated[str, About("The item of crawler_queue, cut at 10 000 characters")]]
    detail: NotRequired[Annotated[str, About("Fault of the item, in words")]]


@record("task", "Task")
class TaskRecord(TypedDict):
    """A URL of the frontier with its history, as `scrapy frontier urls` and `GET /frontier/urls` list it."""

    id: Annotated[str, About("Id of the task: an article's uid, feed:<feed_id>, sitemap:<sitemap_id>, …")]
    url: Annotated[WebUrl, About("URL as published")]
    url_hash: Annotated[Sha256 | None, About("sha256 of the canonical URL; null if the URL has no canonical form")]
    host: Annotated[str, About("Host whose turn the task waits for")]
    kind: Annotated[str, About("feed, sitemap, article, archive, page, websub, file, …")]
    source: Annotated[str | None, About("Source whose settings hold for the URL")]
    category: Annotated[str | None, About("First category of the article")]
    origin: Annotated[Literal["feed", "sitemap", "spider", "manual", "queue"], About("Origin of the URL")]
    parent: Annotated[str | None, About("Feed, sitemap or page that named the URL")]
    depth: Annotated[Count, About("Number of links followed to the URL")]
    priority: Annotated[int, About("1 (taken last) to 10 (taken first)", minimum=1, maximum=10)]
    status: Annotated[
        Literal["pending", "fetching", "fetched", "dead", "quarantined"],
        About("quarantined: a poll that waits ever longer after repeated deaths of its workers or failures"),
    ]
    reason: Annotated[str | None, About("Reason code of the last end, or of the last decision on a poll")]
    discovered_at: Annotated[Time | None, About("Time at which the URL was enqueued first")]
    next_fetch_at: Annotated[
        Time | None, About("Earliest time of the next fetch; null while a worker holds the task and after its end")
    ]
    last_fetched_at: Annotated[Time | None, About("End of the last fetch")]
    updated_at: Annotated[Time | None, About("Last change of the record")]
    fetch_count: Annotated[Count, About("Number of fetches that came to an end")]
    retry_count: Annotated[Count, About("Number of failed tries of the present or last fetch")]
    deaths: Annotated[Count, About("Number of workers that died while they held the task")]
    last_error: Annotated[str | None, About("Reason code of the last failure")]
    content_hash: Annotated[Sha256 | None, About("sha256 of the stored article's text; null if none is stored")]
    etag: Annotated[str | None, About("ETag of the last response, as received")]
    last_modified: Annotated[str | None, About("Last-Modified of the last response, as received")]


@record("queue_item", "Queue item")
class QueueItemRecord(TypedDict):
    """An element of crawler_queue in its long form. The short form is a plain URL; a dead letter may be put back as
    it is.
    """

    url: Annotated[WebUrl, About("URL to fetch")]
    category: NotRequired[Annotated[str | None, About("Category of the article")]]
    priority: NotRequired[
        Annotated[
            int,
            About(
                "1 (taken last) to 10 (taken first); left out: that of the URL's source, else 5", minimum=1, maximum=10
            ),
        ]
    ]
    again: NotRequired[Annotated[bool, About("True: fetch the URL even if it was fetched within the last 30 days")]]
    reason: NotRequired[Annotated[str, About("Reason code of a dead letter that is put back: its URL is tried again")]]
    uid: NotRequired[Annotated[str, About("Of a dead letter: restored in its task")]]
    kind: NotRequired[
        Annotated[
            Literal["article", "page", "archive", "gap", "file", "listing"],
            About("Of a dead letter: restored in its task"),
        ]
    ]
    status: NotRequired[Annotated[HttpStatus, About("Of a dead letter: ignored")]]
    attempts: NotRequired[Annotated[Count, About("Of a dead letter: ignored")]]
    at: NotRequired[Annotated[float, About("Of a dead letter: ignored")]]
    source: NotRequired[Annotated[str, About("Of a dead letter: restored in its task")]]
    origin: NotRequired[
        Annotated[
            Literal["feed", "sitemap", "spider", "manual", "queue"], About("Of a dead letter: restored in its task")
        ]
    ]
    parent: NotRequired[Annotated[str, About("Of a dead letter: restored in its task")]]
    depth: NotRequired[Annotated[Positive, About("Of a dead letter: restored in its task")]]
    payload: NotRequired[Annotated[str, About("Of a dead letter: JSON text, restored as payload of its task")]]
