"""Records that other programs read or write: dead letters, and items of the input queue.

The JSON Schemas and the tables of docs/data-format.md are generated from these classes.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

from feedcrawl.domain.schemas import About, Count, HttpStatus, Positive, WebUrl, record

DEAD_LETTER_EITHER = (
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
    """An element of page_fetcher_dlq: a URL given up, or an item of crawler_queue that could not be read."""

    url: NotRequired[Annotated[WebUrl, About("The URL that was given up")]]
    uid: NotRequired[
        Annotated[
            str,
            About(
                "Id of its task: an article's uid, page:<digest> for requests of other spiders, file:<digest> for"
                " media files"
            ),
        ]
    ]
    kind: NotRequired[Annotated[Literal["article", "page", "archive", "file"], About("Kind of the task")]]
    reason: Annotated[str, About("Reason code (http_404, total_timeout, …)")]
    status: NotRequired[Annotated[HttpStatus, About("Last HTTP status")]]
    attempts: NotRequired[Annotated[Count, About("Attempts that counted, the last one left out")]]
    at: Annotated[float, About("Unix time")]
    category: NotRequired[Annotated[str, About("As the task had it")]]
    priority: NotRequired[Annotated[int, About("1 to 10", minimum=1, maximum=10)]]
    source: NotRequired[Annotated[str, About("The site that it belongs to")]]
    origin: NotRequired[
        Annotated[Literal["feed", "sitemap", "spider", "manual", "queue"], About("What brought the URL")]
    ]
    parent: NotRequired[Annotated[str, About("The feed or sitemap that named it")]]
    depth: NotRequired[Annotated[Positive, About("Links followed to it")]]
    payload: NotRequired[
        Annotated[
            str, About("JSON text: what its task carried (feed_id, entry_uid, title, categories, …), for the next try")
        ]
    ]
    item: NotRequired[Annotated[str, About("What stood in crawler_queue, at most 10 000 characters")]]
    detail: NotRequired[Annotated[str, About("What is wrong with it")]]


@record("queue_item", "Queue item")
class QueueItemRecord(TypedDict):
    """An element of crawler_queue in its long form; a plain URL is the short one, and a dead letter may be put back
    as it is.
    """

    url: Annotated[WebUrl, About("What to fetch")]
    category: NotRequired[Annotated[str | None, About("Label that its article gets")]]
    priority: NotRequired[Annotated[int, About("10 first; 5 if left out", minimum=1, maximum=10)]]
    again: NotRequired[Annotated[bool, About("Fetch it though it was fetched within the last 30 days")]]
    reason: NotRequired[Annotated[str, About("Set where a dead letter is put back: it is tried again")]]
    uid: NotRequired[Annotated[str, About("Of a dead letter: its task has it again")]]
    kind: NotRequired[
        Annotated[Literal["article", "page", "archive", "file"], About("Of a dead letter: its task has it again")]
    ]
    status: NotRequired[Annotated[HttpStatus, About("Of a dead letter; not read")]]
    attempts: NotRequired[Annotated[Count, About("Of a dead letter; not read")]]
    at: NotRequired[Annotated[float, About("Of a dead letter; not read")]]
    source: NotRequired[Annotated[str, About("Of a dead letter: its task has it again")]]
    origin: NotRequired[
        Annotated[
            Literal["feed", "sitemap", "spider", "manual", "queue"], About("Of a dead letter: its task has it again")
        ]
    ]
    parent: NotRequired[Annotated[str, About("Of a dead letter: its task has it again")]]
    depth: NotRequired[Annotated[Positive, About("Of a dead letter: its task has it again")]]
    payload: NotRequired[Annotated[str, About("Of a dead letter: JSON text, which its task carries again")]]
