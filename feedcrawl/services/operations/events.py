"""Reads the event stream, for the REST route and commands; the reader keeps its own cursor."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.operations.events import EventType

if TYPE_CHECKING:
    from collections.abc import Collection

    from feedcrawl.store.operations.streams import Events, StoredEvent

BEGINNING: Final = "0"
NOW: Final = "now"
MAX_EVENTS: Final = 1000
TYPES: Final = frozenset(get_args(EventType))
_CURSOR: Final = re.compile(r"[0-9]{1,15}(-[0-9]{1,15})?")
_LOOKED_AT: Final = 5000
"""The most stream entries that one call reads if only some event types are requested."""


@dataclass(frozen=True, slots=True)
class Page:
    """Events in order, each as its `cursor`, `type`, `id` and `data`; the next events come after `cursor`."""

    events: tuple[dict[str, object], ...]
    cursor: str


def read(events: Events, after: str = BEGINNING, limit: int = 100, types: Collection[str] = ()) -> Page:
    """At most the given number of events after a cursor, of these types or of all.

    `after` is the cursor of an event or page, `0` for the oldest stored event, or `now` for none of them. A page may be
    empty before the end of the stream: its cursor has then moved on. Raises Refusal (`bad_cursor` `bad_limit`
    `unknown_type`) for invalid arguments, StoreUnavailable.
    """
    _check(after, limit, types)
    if after == NOW:
        return Page((), events.last())
    found = events.after(after, _LOOKED_AT if types else limit)
    chosen = [stored for stored in found if not types or stored.fields.get("type") in types][:limit]
    full = len(chosen) == limit
    ends_at = chosen[-1].at if full else found[-1].at if found else after
    return Page(tuple(map(_public, chosen)), ends_at)


def _check(after: str, limit: int, types: Collection[str]) -> None:
    if after != NOW and not _CURSOR.fullmatch(after):
        raise Refusal("bad_cursor", f"after must be the cursor of an event, {BEGINNING} or {NOW}, not {after[:50]!r}")
    if not 1 <= limit <= MAX_EVENTS:
        raise Refusal("bad_limit", f"limit must be from 1 to {MAX_EVENTS}, not {limit}")
    if unknown := sorted(set(types) - TYPES):
        raise Refusal("unknown_type", f"{unknown[0][:50]!r} is none of {', '.join(sorted(TYPES))}")


def _public(stored: StoredEvent) -> dict[str, object]:
    """The event with `data` as JSON; data that another program wrote into the stream may be text."""
    text = stored.fields.get("data", "")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = text
    trace = {"traceparent": stored.fields["traceparent"]} if "traceparent" in stored.fields else {}
    return {
        "cursor": stored.at,
        "type": stored.fields.get("type"),
        "id": stored.fields.get("id"),
        "data": data,
        **trace,
    }
