"""Articles extracted again from the archive: the selected captures, and the differences from the stored articles."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Final, Literal, cast

from feedcrawl.domain.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from feedcrawl.domain.articles.fields import ArticleFields

Outcome = Literal["same", "changed", "gained", "lost", "fails_otherwise", "fails_as_before", "skipped"]
"""`gained`: there was no article, now there is one. `lost`: the extraction fails now; the stored article stays.
`fails_as_before`: no article before and now, even if the earlier reason is unknown.
"""

FIELDS: Final = (
    "title", "authors", "published", "modified", "language", "site_name", "image", "abstract",
    "text_len", "content_hash", "content_html", "extractor", "page_kind", "posts",
)  # fmt: skip
"""The fields of an article that are compared; the text by its hash, the HTML and the posts by a digest."""
_KEPT: Final = (*FIELDS, "uid", "url", "canonical_url", "final_url", "category", "categories", "feed_id", "entry_uid",
                "fetch_id", "fetched_at", "fetched_ts", "failure", "outgoing", "rendered", "status")  # fmt: skip

_DIGEST_CHARS: Final = 16


@dataclass(frozen=True, slots=True)
class CaptureFilter:
    """Conditions that select captures; all that are set must hold. `since` is inclusive, `until` exclusive."""

    since: datetime | None = None
    until: datetime | None = None
    host: str | None = None
    uid: str | None = None
    url: str | None = None

    def includes(self, *, fetched_at: datetime, host: str | None, uid: str | None, url: str) -> bool:
        """True if a capture is selected."""
        given = ((self.host, host), (self.uid, uid), (self.url, url))
        return (
            all(expected is None or expected == found for expected, found in given)
            and (self.since is None or fetched_at >= self.since)
            and (self.until is None or fetched_at < self.until)
        )


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result for one capture. `changes`: each field that differs, with the stored and the new value."""

    fetch_id: str
    uid: str
    url: str
    fetched_at: str
    outcome: Outcome
    reason: str = ""
    """Why the capture was skipped, or the failure (`FAIL_EMPTY: no_text …`)."""
    changes: Mapping[str, tuple[object, object]] = field(default_factory=dict)
    written: bool = False


def moment(text: str, *, end: bool = False) -> datetime:
    """The time of a day or moment (ISO 8601; UTC without offset). A day means its start, with `end` its end."""
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


def outline(record: ArticleFields) -> ArticleFields:
    """The fields of an article's record that a replay needs, with digests in place of the HTML and the posts."""
    kept: dict[str, object] = {name: record.get(name) for name in _KEPT if record.get(name) not in (None, "")}
    if "content_html" in kept:
        kept["content_html"] = _digest(str(kept["content_html"]))
    if kept.get("posts"):
        kept["posts"] = _digest(json.dumps(kept["posts"], ensure_ascii=False, sort_keys=True))
    return cast("ArticleFields", kept)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGEST_CHARS]


def differences(before: ArticleFields, after: ArticleFields) -> dict[str, tuple[object, object]]:
    """The fields in which two outlines differ; a missing value and an empty list are both None."""
    pairs = ((name, before.get(name) or None, after.get(name) or None) for name in FIELDS)
    return {name: (old, new) for name, old, new in pairs if old != new}


def outcome(before: ArticleFields | None, after: ArticleFields | str) -> Outcome:
    """The outcome of an extraction.

    `before`: outline of the stored article or failure, None if nothing is stored. `after`: outline of the new article,
    or a failure code.
    """
    was_article = before is not None and "failure" not in before
    if isinstance(after, str):
        if was_article:
            return "lost"
        return "fails_as_before" if before is None or before["failure"] == after else "fails_otherwise"
    if before is None or not was_article:
        return "gained"
    return "changed" if differences(before, after) else "same"


def version(uid: str, after: ArticleFields) -> str:
    """The name of a version: uid, digest of the text, and digest of all fields."""
    text = json.dumps([after.get(name) for name in FIELDS], ensure_ascii=False)
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{uid}:{after['content_hash'][:_DIGEST_CHARS]}:{digest[:8]}"
