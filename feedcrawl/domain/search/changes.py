"""The changes of a search index that follow from the events of the stream."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.operations.events import Unprocessable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_UID: Final = re.compile("[0-9a-f]{16}")
_STORED: Final = {
    "article_ready": ("uid",),
    "article_updated": ("uid",),
    "article_merged": ("winner",),
    "article_unmerged": ("winner",),
}
"""Fields with the uids whose document is stored, by type of event: a merge changes the categories of the winner."""
_REMOVED: Final = {"article_merged": ("uid",), "article_deleted": ("uid",)}
"""Fields with the uids whose document is removed."""


def changes_of(events: Iterable[Mapping[str, str]]) -> tuple[dict[str, bool], list[Unprocessable | None]]:
    """The uids whose documents change: True if stored, False if removed; and the reasons of unreadable events.

    The last event of a uid decides. An event has the fields `type`, `id` and `data`; other types change nothing. The
    list has for each event None, or the reason why it cannot be read. The document of a uid is stored only if its
    article is still stored.
    """
    changes: dict[str, bool] = {}
    ends: list[Unprocessable | None] = []
    for event in events:
        found = _changes(event)
        ends.append(found if isinstance(found, Unprocessable) else None)
        if not isinstance(found, Unprocessable):
            for uid, is_stored in found.items():
                changes.pop(uid, None)
                changes[uid] = is_stored
    return changes, ends


def _changes(event: Mapping[str, str]) -> dict[str, bool] | Unprocessable:
    if not event:
        return Unprocessable("gone", "the event was deleted from the stream before it was read")
    kind = event.get("type", "")
    removed, stored = _REMOVED.get(kind, ()), _STORED.get(kind, ())
    if not removed and not stored:
        return {}
    try:
        data = json.loads(event.get("data", ""))
    except (ValueError, RecursionError) as error:
        return Unprocessable("bad_json", str(error)[:200])
    found: dict[str, bool] = {}
    for name in (*removed, *stored):
        uid = data.get(name) if isinstance(data, dict) else None
        if not isinstance(uid, str) or not _UID.fullmatch(uid):
            return Unprocessable("bad_fields", f"{name} must be the uid of an article")
        found[uid] = name in stored
    return found
