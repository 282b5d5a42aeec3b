"""Events as other programs get them: a type, an id that a repetition carries too, and JSON data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

EventType = Literal[
    "new_entry",
    "entry_updated",
    "article_ready",
    "article_updated",
    "article_failed",
    "article_merged",
    "article_unmerged",
    "webpage_fetched",
]


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `data` is a JSON object as text."""

    type: EventType
    id: str
    data: str


def event(kind: EventType, subject: str, data: Mapping[str, Any]) -> Event:
    """An event whose id is its kind and subject: the same happening has the same id however often it is told."""
    return Event(kind, f"{kind}:{subject}", json.dumps(data, separators=(",", ":"), ensure_ascii=False))
