"""Articles read again from the archive: which captures are meant, and what differs from what was stored."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal

from feedcrawl.domain.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Outcome = Literal["same", "changed", "gained", "lost", "fails_otherwise", "fails_as_before", "skipped"]
"""`gained`: an article where there was none. `lost`: none where there is one, which stays. `fails_as_before`: none
before and now, be it that why is no longer known.
"""

FIELDS: Final = (
    "title", "authors", "published", "modified", "language", "site_name", "image", "abstract",
    "text_len", "content_hash", "content_html", "extractor",
)  # fmt: skip
"""What of an article is compared. Its text is, by its hash; its HTML has a digest here."""
_KEPT: Final = (*FIELDS, "uid", "url", "canonical_url", "final_url", "category", "categories", "feed_id", "entry_uid",
                "fetch_id", "fetched_at", "fetched_ts", "failure", "rendered", "status")  # fmt: skip
_LISTS: Final = frozenset({"authors", "categories"})
_NUMBERS: Final[dict[str, Callable[[Any], float]]] = {"text_len": int, "fetched_ts": float}
_DIGEST_CHARS: Final = 16


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which captures are meant: all conditions that are given must hold. `until` itself is not meant."""

    since: datetime | None = None
    until: datetime | None = None
    host: str | None = None
    uid: str | None = None
    url: str | None = None

    def includes(self, *, fetched_at: datetime, host: str | None, uid: str | None, url: str) -> bool:
        """Whether a capture is."""
        given = ((self.host, host), (self.uid, uid), (self.url, url))
        return (
            all(wanted is None or wanted == found for wanted, found in given)
            and (self.since is None or fetched_at >= self.since)
            and (self.until is None or fetched_at < self.until)
        )


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of one capture. `changes` are the fields that differ, as stored and as read now."""

    fetch_id: str
    uid: str
    url: str
    fetched_at: str
    outcome: Outcome
    reason: str = ""
    """Why it was skipped, or what the failure is (`FAIL_EMPTY: no_text …`)."""
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    written: bool = False


def moment(text: str, *, end: bool = False) -> datetime:
    """A day or a moment (ISO 8601; UTC where it has no offset). A day means its start, or with `end` the next one's."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            raise Refusal(
                "bad_date", f"{text!r} is neither a day (2026-11-28) nor a moment (2026-11-28T12:00)"
            ) from None
        return at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)
    return datetime.combine(day + timedelta(days=int(end)), time(), UTC)


def outline(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a comparison needs of an article's record, be it a line or a HASH; its HTML as a digest."""
    kept = {name: record[name] for name in _KEPT if record.get(name) not in (None, "")}
    for name in _LISTS & kept.keys():
        kept[name] = json.loads(kept[name]) if isinstance(kept[name], str) else kept[name]
    for name in _NUMBERS.keys() & kept.keys():
        kept[name] = _NUMBERS[name](kept[name])
    if "content_html" in kept:
        html = str(kept["content_html"]).encode("utf-8", "replace")
        kept["content_html"] = hashlib.sha256(html).hexdigest()[:_DIGEST_CHARS]
    return kept


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The fields in which two outlines differ; a missing one is None, and an empty list is none."""
    pairs = ((name, before.get(name) or None, after.get(name) or None) for name in FIELDS)
    return {name: (old, new) for name, old, new in pairs if old != new}


def outcome(before: Mapping[str, Any] | None, after: Mapping[str, Any] | str) -> Outcome:
    """What reading again came to: `before` is the outline of what is stored, an article, a failure, or nothing; `after`
    that of the article read now, or a failure code.
    """
    was_article = before is not None and "failure" not in before
    if isinstance(after, str):
        if was_article:
            return "lost"
        return "fails_as_before" if before is None or before["failure"] == after else "fails_otherwise"
    if before is None or not was_article:
        return "gained"
    return "changed" if differences(before, after) else "same"


def version(uid: str, after: Mapping[str, Any]) -> str:
    """What names a version of an article whose text may be that of another: the same for the same fields."""
    text = json.dumps([after.get(name) for name in FIELDS], ensure_ascii=False)
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{uid}:{after['content_hash'][:_DIGEST_CHARS]}:{digest[:8]}"
