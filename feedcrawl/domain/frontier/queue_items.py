"""What other programs put into `crawler_queue`: a URL, or a JSON object with one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.dead_letters import read_letter, task_of
from feedcrawl.domain.models import MAX_CATEGORY
from feedcrawl.domain.secrets import MASK

if TYPE_CHECKING:
    from feedcrawl.domain.frontier.tasks import Again, Task

PRIORITIES = range(1, 11)


@dataclass(frozen=True, slots=True)
class QueueItem:
    """A URL to fetch.

    `again` is why it shall be fetched though it was before ("" = it shall not); `task` is what it was when given up.
    """

    url: str
    category: str | None = None
    priority: int = 5
    again: Again = ""
    task: Task | None = None


def read_item(text: str) -> QueueItem:
    """The item that a member of the queue stands for; Refusal says what is wrong with it.

    A dead letter that is put back unchanged is a retry: it has a `reason`.
    """
    text = unwrapped(text).strip()
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
    check_category(category or "")
    again: Again = "retry" if "reason" in said else "queue_again" if said.get("again") is True else ""
    if again == "retry" and MASK in json.dumps(said):
        raise Refusal("letter_masked", "its URL had a secret that is no longer stored: queue the URL itself")
    task = task_of(said, priority) if again == "retry" else None
    return QueueItem(_url(said.get("url")), category or None, priority, again, task)


def check_category(category: str) -> None:
    """Refusal (`bad_category`) for a category that cannot be part of a key that other programs read."""
    if len(category) > MAX_CATEGORY:
        raise Refusal("bad_category", f"the category has {len(category)} characters, at most {MAX_CATEGORY}")
    if not category.isprintable() or not {"{", "}"}.isdisjoint(category):
        raise Refusal("bad_category", "the category has control characters or braces, which a key must not have")


def unwrapped(text: str) -> str:
    """What stood in the queue, where the text is the dead letter of an item that could not be read; else the text."""
    said = read_letter(text).said if text.lstrip().startswith("{") else {}
    return said["item"] if isinstance(said.get("item"), str) and "url" not in said else text


def _url(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise Refusal("bad_queue_item", "it has no URL")
    return value
