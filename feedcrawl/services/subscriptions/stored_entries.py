"""Reads the entries on this machine's disk: in the order of their arrival, or one by its uid."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import Refusal
from feedcrawl.store.disk.files import json_line

if TYPE_CHECKING:
    from feedcrawl.domain.entries.lineage import KnownEntry
    from feedcrawl.domain.entries.records import EntryRecord
    from feedcrawl.store.disk.ndjson import NdjsonFile
    from feedcrawl.store.subscriptions.entries import Entries

Place = tuple[float, str]
"""The end of a page: the byte offset in the file of a day, and the day."""
PART_BYTES: Final = 4 << 20
BUDGET_BYTES: Final = 64 << 20
"""The most bytes that one page reads if few entries match: the page then ends early."""
_NEAR_BYTES: Final = 64 << 10
_DISORDER: Final = timedelta(minutes=10)
"""The greatest delay between polling an entry and writing its line: lines may be out of order by this much."""
_MAX_OFFSET: Final = 1 << 53
RECENT_BYTES: Final = 256 << 20
"""The latest bytes that are searched for an entry whose feed is not given."""


def page(
    lines: NdjsonFile[EntryRecord],
    since: datetime,
    *,
    feed_id: str | None = None,
    after: Place | None = None,
    limit: int = 50,
) -> tuple[list[EntryRecord], Place | None]:
    """At most the given number of entries since a time, in the order of arrival, and the place of the next page.

    Each version of an entry is returned. A page may be short or empty without being the last. The place is None after
    the last entry so far; later entries follow the place of the page before, or the time of the last entry. Raises
    Refusal (`bad_cursor`), DiskUnavailable.
    """
    day, start = _read(after) or _beginning(lines, since)
    days = [each for each in lines.days() if each >= day]
    text = f'"feed_id":"{feed_id}"'.encode() if feed_id else b""
    found: list[EntryRecord] = []
    budget = BUDGET_BYTES
    for each in days:
        at = start if each == day else 0
        while part := lines.part(each, at, PART_BYTES, text):
            for end, record in part.records:
                if _is_meant(record, feed_id, since):
                    found.append(record)
                if len(found) == limit:
                    return found, (float(end), each.isoformat())
            budget -= part.end - at
            at = part.end
            if budget <= 0:
                return found, (float(at), each.isoformat())
    return found, None


def _beginning(lines: NdjsonFile[EntryRecord], since: datetime) -> tuple[date, int]:
    """The day of a time, and the offset of a line written well before that time: lines are nearly in order."""
    day = since.astimezone(UTC).date()
    earliest = rfc3339(since - _DISORDER) if since - datetime.min.replace(tzinfo=UTC) > _DISORDER else ""
    low, high = 0, lines.size(day)
    while high - low > _NEAR_BYTES:
        middle = (low + high) // 2
        part = lines.part(day, middle, _NEAR_BYTES)
        end, record = next(part.records, (high, None)) if part else (high, None)
        if record is None or str(record.get("last_seen", "")) >= earliest:
            high = middle
        else:
            low = end
    return day, low


def _is_meant(record: EntryRecord, feed_id: str | None, since: datetime) -> bool:
    return (feed_id is None or record.get("feed_id") == feed_id) and str(record.get("last_seen", "")) >= rfc3339(since)


def _read(place: Place | None) -> tuple[date, int] | None:
    if place is None:
        return None
    try:
        if not 0 <= place[0] < _MAX_OFFSET:
            raise ValueError  # noqa: TRY301 - one answer for whatever is wrong
        return date.fromisoformat(place[1]), int(place[0])
    except ValueError:
        raise Refusal("bad_cursor", "cursor must be the `next` of a page, unchanged") from None


def find(
    lines: NdjsonFile[EntryRecord], known: Entries, entry_uid: str, feed_id: str | None = None
) -> list[EntryRecord]:
    """The last version of an entry in each feed that has it; with `feed_id`, in that feed, whatever its age.

    Counts of sightings are the present ones. Raises Refusal (`entry_unknown`) if there is none, DiskUnavailable.
    """
    text = json_line({"entry_uid": entry_uid}).decode()[1:-2]  # the form in a line, without the braces
    records = _recent(lines, text) if feed_id is None else _of_feed(lines, known, entry_uid, feed_id, text)
    found = {
        str(each["feed_id"]): each
        for each in reversed(records)
        if each.get("entry_uid") == entry_uid and feed_id in (None, each.get("feed_id"))
    }
    if not found:
        where = "among the latest entries: name its feed" if feed_id is None else "of this feed"
        raise Refusal("entry_unknown", f"no entry with this uid is on this machine's disk {where}")
    return [_now(each, known) for each in found.values()]


def _recent(lines: NdjsonFile[EntryRecord], text: str) -> list[EntryRecord]:
    """The records whose lines contain a text, newest first, from the latest bytes."""
    found: list[EntryRecord] = []
    budget = RECENT_BYTES
    for day in reversed(lines.days()):
        size = lines.size(day)
        found += reversed(list(lines.with_text(day, text, max(0, size - budget))))
        budget -= size
        if budget <= 0:
            break
    return found


def _of_feed(
    lines: NdjsonFile[EntryRecord], known: Entries, entry_uid: str, feed_id: str, text: str
) -> list[EntryRecord]:
    """The entry's lines on the days on which it can have been written, newest first."""
    lineage = _lineage(known, feed_id, entry_uid)
    if lineage is None:
        return []
    days = {(lineage.revised_at or lineage.first_seen).date(), lineage.first_seen.date()}
    return [each for day in sorted(days, reverse=True) for each in reversed(list(lines.with_text(day, text)))]


def _lineage(known: Entries, feed_id: str, entry_uid: str) -> KnownEntry | None:
    return known.lineage(feed_id, entry_uid)


def _now(record: EntryRecord, known: Entries) -> EntryRecord:
    lineage = _lineage(known, record["feed_id"], record["entry_uid"])
    if lineage is None:
        return record
    found: EntryRecord = {**record, "last_seen": rfc3339(lineage.last_seen), "seen_count": lineage.seen_count}
    if lineage.deleted is not None:
        found["deleted_at"] = rfc3339(lineage.deleted)
    return found
