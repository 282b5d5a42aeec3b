"""What other programs put into `crawler_queue`: a URL, or a JSON object with one."""

from __future__ import annotations

import json
from dataclasses import dataclass

from feedcrawl.domain.errors import Refusal

PRIORITIES = range(1, 11)


@dataclass(frozen=True, slots=True)
class QueueItem:
    """A URL to fetch. `again` is why it shall be fetched though it was before ("" = it shall not)."""

    url: str
    category: str | None = None
    priority: int = 5
    again: str = ""


def read_item(text: str) -> QueueItem:
    """The item that a member of the queue stands for; Refusal says what is wrong with it.

    A dead letter that is put back unchanged is a retry: it has a `reason`.
    """
    text = text.strip()
    if not text.startswith("{"):
        return QueueItem(_url(text))
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        raise Refusal("bad_queue_item", "it begins like a JSON object and is none") from None
    priority = said.get("priority", 5)
    if type(priority) is not int or priority not in PRIORITIES:
        raise Refusal("bad_queue_item", f"priority must be a whole number from 1 to 10, not {priority!r}")
    category = said.get("category")
    if category is not None and not isinstance(category, str):
        raise Refusal("bad_queue_item", "category must be text")
    again = "retry" if "reason" in said else "queue_again" if said.get("again") is True else ""
    return QueueItem(_url(said.get("url")), category or None, priority, again)


def _url(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise Refusal("bad_queue_item", "it has no URL")
    return value
