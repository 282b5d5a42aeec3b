"""Events for other programs: a type, an id that is the same when the event is repeated, and JSON data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

from feedcrawl.domain.json_values import compact_json
from feedcrawl.domain.secrets import record_without_secrets, without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

EventType = Literal[
    "new_entry",
    "entry_updated",
    "entry_deleted",
    "article_ready",
    "article_updated",
    "article_failed",
    "article_merged",
    "article_unmerged",
    "article_deleted",
    "webpage_fetched",
    "url_known",
    "source_searched",
]


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `data` is a JSON object as text."""

    type: EventType
    id: str
    data: str


@dataclass(frozen=True, slots=True)
class Unprocessable:
    """An event that a consumer can never process, with the reason; it is stored for the operator.

    Reasons: `gone` `no_id` `bad_json` `bad_fields` `too_large`, of the search index `document_refused`, of webhooks
    `webhook_refused` `webhook_failed`.
    """

    reason: str
    detail: str = ""


def event(kind: EventType, subject: str, data: Mapping[str, object]) -> Event:
    """An event whose id is its kind and subject, so that a repetition of the event has the same id.

    Id and data have no secrets: URLs with a token are complete only in the records that the event names. If the subject
    had a secret, the id ends with a digest, so that two events never share an id.
    """
    shown, named = record_without_secrets(data), without_secrets(subject)
    if named != subject:
        named += f":{sha256(subject.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    return Event(kind, f"{kind}:{named}", compact_json(shown))


def repeated(first: Event, at: datetime) -> Event:
    """An event that is published again on purpose: its id ends with the Unix time, so that consumers process it."""
    return replace(first, id=f"{first.id}:{at.timestamp():.0f}")
