"""Items that other programs add to `crawler_queue`: a URL, or a JSON object with a URL."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.dead_letters import read_dead_letter, task_of
from feedcrawl.domain.frontier.priority import DEFAULT
from feedcrawl.domain.frontier.tasks import MAX_CATEGORY
from feedcrawl.domain.secrets import MASK

if TYPE_CHECKING:
    from feedcrawl.domain.frontier.tasks import Again, Task

PRIORITIES = range(1, 11)


@dataclass(frozen=True, slots=True)
class QueueItem:
    """A URL to fetch; with `priority` None it has the priority of its source.

    `again` is the reason for fetching a URL that was fetched before ("": such a URL is not fetched again); `task` is
    the task of the dead letter, if the item is a dead letter.
    """

    url: str
    category: str | None = None
    priority: int | None = None
    again: Again = ""
    task: Task | None = None


def read_item(text: str) -> QueueItem:
    """The item that a member of the queue describes; Refusal with the reason if the member is invalid.

    A dead letter that is put back unchanged has a `reason`, and is therefore a retry.
    """
    text = unwrapped(text).strip()
    if not text.startswith("{"):
        return QueueItem(_url(text))
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        raise Refusal("bad_queue_item", "the item begins like a JSON object but is not valid JSON") from None
    priority = record.get("priority")
    if priority is not None and (type(priority) is not int or priority not in PRIORITIES):
        raise Refusal("bad_queue_item", f"priority must be a whole number from 1 to 10, not {priority!r}")
    category = record.get("category")
    if category is not None and not isinstance(category, str):
        raise Refusal("bad_queue_item", "category must be text")
    check_category(category or "")
    again: Again = "retry" if "reason" in record else "queue_again" if record.get("again") is True else ""
    if again == "retry" and MASK in json.dumps(record):
        raise Refusal("letter_masked", "the URL had a secret that is no longer stored: queue the full URL instead")
    task = task_of(record, DEFAULT if priority is None else priority) if again == "retry" else None
    return QueueItem(_url(record.get("url")), category or None, priority, again, task)


def check_category(category: str) -> None:
    """Raise Refusal (`bad_category`) for a category that cannot be part of a Redis key that other programs read."""
    if len(category) > MAX_CATEGORY:
        raise Refusal("bad_category", f"the category has {len(category)} characters; the maximum is {MAX_CATEGORY}")
    if not category.isprintable() or not {"{", "}"}.isdisjoint(category):
        raise Refusal("bad_category", "the category has control characters or braces, which a Redis key must not have")


def unwrapped(text: str) -> str:
    """The original queue item if the text is the dead letter of an unreadable item; else the text itself."""
    record = read_dead_letter(text).fields if text.lstrip().startswith("{") else {}
    item = record.get("item")
    return item if isinstance(item, str) and "url" not in record else text


def _url(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise Refusal("bad_queue_item", "the item has no URL")
    return value
