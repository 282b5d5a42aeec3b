"""The page record of a URL that was requested or found in a feed: its states, and the steps between them.

    pending ──start──▶ extracting ──succeed──▶ ready_for_reading
       ▲                   │  └─────fail─────▶ failed
       └───── retry ───────┼──────────────────────┘
                           └────merge──▶ duplicate (of the record of another URL with the same article)

A record is a value; a step returns the next record or raises IllegalTransition. `last_error_code` and `failure_stage`
have codes of their own; `last_error_message` contains the reason code of logs and dead letters.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final, Literal
from uuid import UUID, uuid5

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.json_values import known_fields
from feedcrawl.domain.secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from feedcrawl.domain.articles.page_records import (
        MediaCapabilities,
        MediaFragments,
        MediaRecord,
        MediaRevisions,
        PageError,
    )

Status = Literal["pending", "extracting", "ready_for_reading", "failed", "duplicate"]
Step = Literal["start", "succeed", "fail", "merge", "part", "retry"]

TRANSITIONS: Final[Mapping[tuple[Status, Step], Status]] = {
    ("pending", "start"): "extracting",
    ("pending", "merge"): "duplicate",  # another URL has led to the article: nothing to fetch
    ("pending", "retry"): "pending",  # its task may have been lost before it was enqueued
    ("extracting", "start"): "extracting",  # given back, or taken over from a dead worker
    ("extracting", "succeed"): "ready_for_reading",
    ("extracting", "fail"): "failed",
    ("extracting", "merge"): "duplicate",
    ("ready_for_reading", "start"): "ready_for_reading",  # an edit: the stored version stays readable meanwhile
    ("ready_for_reading", "succeed"): "ready_for_reading",
    ("ready_for_reading", "fail"): "ready_for_reading",  # the stored version stays
    ("ready_for_reading", "merge"): "ready_for_reading",  # found again under another URL
    ("failed", "start"): "extracting",  # a dead letter was replayed
    ("failed", "merge"): "duplicate",
    ("failed", "retry"): "pending",
    ("duplicate", "start"): "duplicate",
    ("duplicate", "merge"): "duplicate",
    ("duplicate", "fail"): "duplicate",
    ("duplicate", "succeed"): "ready_for_reading",  # its text now differs from the other article's
    ("duplicate", "part"): "pending",  # an operator has undone the merge
}
NAMESPACE: Final = UUID("6f0a3ed0-9d5b-4f0e-8b3e-2f0f6f9f3c51")
STAGE: Final = "extract"
"""The stage of every failure of a web article; upload, transcribe and embed are stages of other media."""
TIMEOUTS: Final = frozenset({"parse_timeout", "total_timeout", "connect_timeout", "render_timeout"})
MAX_REVISIONS: Final = 20


class IllegalTransition(Refusal):
    """A step that is not allowed in a record's state; the code is `media_<status>`."""


@dataclass(frozen=True, slots=True)
class Media:
    """The page record of one requested URL. Times are RFC 3339 in UTC.

    `revisions`: versions of the article, newest first, each with `content_hash` and `at`. `duplicate_of`: media_id of
    the article that this one was merged into. `earlier_attempts`: attempts before the current round. `request_id`: the
    first API request for the URL.
    """

    media_id: str
    uid: str
    requested_url: str
    created_at: str
    updated_at: str
    processing_status: Status = "pending"
    canonical_url: str | None = None
    processing_attempts: int = 0
    processing_started_at: str | None = None
    processing_completed_at: str | None = None
    failed_at: str | None = None
    failure_stage: str | None = None
    last_error_code: PageError | None = None
    last_error_message: str | None = None
    duplicate_of: str | None = None
    content_hash: str | None = None
    revisions: tuple[MediaRevisions, ...] = ()
    earlier_attempts: int = 0
    request_id: str | None = None

    def to_record(self) -> dict[str, object]:
        """The record as JSON values, without the fields that are not set."""
        return {name: value for name, value in asdict(self).items() if value not in (None, (), 0)}


def media_id(uid: str) -> str:
    """The UUID of a page record, computed from the uid, so that no table is needed to find it."""
    return str(uuid5(NAMESPACE, uid))


def new_media(uid: str, url: str, at: str, request_id: str | None = None) -> Media:
    """The record of a requested URL, before the first attempt."""
    return Media(media_id(uid), uid, url, created_at=at, updated_at=at, request_id=request_id)


def media_from(record: Mapping[str, object]) -> Media:
    """The record that `to_record` wrote; unknown names are ignored."""
    known = known_fields(Media, record)
    return Media(**{**known, "revisions": tuple(known.get("revisions", ()))})


def after(status: Status, step: Step) -> Status:
    """The state after a step. Raises IllegalTransition if the step is not allowed."""
    try:
        return TRANSITIONS[status, step]
    except KeyError:
        raise IllegalTransition(f"media_{status}", f"the record is {status}: the step {step} is not allowed") from None


def started(media: Media, at: str, *, attempts: int = 0) -> Media:
    """The record after the start of an attempt.

    `attempts`: earlier attempts of this round that count; the number is computed from it, so that a repeated call
    changes nothing.
    """
    status = after(media.processing_status, "start")
    first = media.processing_status != "extracting"
    earlier = media.processing_attempts if first else media.earlier_attempts
    return replace(
        media,
        processing_status=status,
        earlier_attempts=earlier,
        processing_attempts=earlier + attempts + 1,
        processing_started_at=at,
        updated_at=at,
    )


def succeeded(media: Media, at: str, *, canonical_url: str, content_hash: str) -> Media:
    """The record after its article was stored; a text that differs from the last one is a new version."""
    status = after(media.processing_status, "succeed")
    revisions = media.revisions
    if content_hash != media.content_hash:
        newest: MediaRevisions = {"content_hash": content_hash, "at": at}
        revisions = (newest, *revisions)[:MAX_REVISIONS]
    return replace(
        media,
        processing_status=status,
        processing_completed_at=at,
        updated_at=at,
        canonical_url=canonical_url,
        content_hash=content_hash,
        revisions=revisions,
        duplicate_of=None,
        last_error_code=None,
        last_error_message=None,
    )


def failed(media: Media, at: str, *, code: str, reason: str, detail: str = "") -> Media:
    """The record after the attempts have failed for good; `code`: failure code, `reason`: reason code."""
    status = after(media.processing_status, "fail")
    if status != "failed":
        return replace(media, processing_status=status, updated_at=at)
    return replace(
        media,
        processing_status=status,
        failed_at=at,
        updated_at=at,
        failure_stage=STAGE,
        last_error_code=error_code(code, reason),
        last_error_message=without_secrets(f"{code} {reason}: {detail}".rstrip(": "))[:500],
    )


def merged(media: Media, at: str, target: str) -> Media:
    """The record after its article was merged into the one with the media_id `target`."""
    status = after(media.processing_status, "merge")
    if status != "duplicate":
        return media
    return replace(media, processing_status=status, duplicate_of=target, updated_at=at)


def parted(media: Media, at: str) -> Media:
    """The record after a merge was undone: pending, until its article is fetched."""
    status = after(media.processing_status, "part")
    return replace(media, processing_status=status, duplicate_of=None, updated_at=at)


def retried(media: Media, at: str) -> Media:
    """The record after another round of attempts was requested."""
    return replace(media, processing_status=after(media.processing_status, "retry"), updated_at=at)


def already_done(media: Media, since: str) -> bool:
    """True if the article was stored after `since`, the time the task became known: only the task's end was lost."""
    done = media.processing_status == "ready_for_reading"
    return done and media.processing_completed_at is not None and media.processing_completed_at >= since


def fragments(html: str, text: str) -> list[MediaFragments]:
    """The parts of an article for its readers: a single part with the whole text. A version's parts never change."""
    return [{"idx": 0, "html_sanitized": html, "canonical_text": text}]


def capabilities(media: Media, parts: Sequence[MediaFragments]) -> MediaCapabilities:
    """The readers' permissions: all of them once the article is stored, none before."""
    is_there = media.processing_status == "ready_for_reading" and bool(parts)
    return {"can_read": is_there, "can_highlight": is_there, "can_quote": is_there}


def public(media: Media, parts: list[MediaFragments]) -> MediaRecord:
    """The page record for readers: every public field, with permissions and parts of the article."""
    return {
        "media_id": media.media_id,
        "uid": media.uid,
        "requested_url": media.requested_url,
        "created_at": media.created_at,
        "updated_at": media.updated_at,
        "processing_status": media.processing_status,
        "canonical_url": media.canonical_url,
        "processing_attempts": media.processing_attempts,
        "processing_started_at": media.processing_started_at,
        "processing_completed_at": media.processing_completed_at,
        "failed_at": media.failed_at,
        "failure_stage": media.failure_stage,
        "last_error_code": media.last_error_code,
        "last_error_message": media.last_error_message,
        "duplicate_of": media.duplicate_of,
        "content_hash": media.content_hash,
        "revisions": list(media.revisions),
        "request_id": media.request_id,
        "duplicate": media.processing_status == "duplicate",
        "capabilities": capabilities(media, parts),
        "fragments": parts,
    }


def error_code(code: str, reason: str) -> PageError:
    """The error code of a failure in page records."""
    if reason == "sanitize_failed":
        return "E_SANITIZATION_FAILED"
    return "E_INGEST_TIMEOUT" if code == "FAIL_TIMEOUT" or reason in TIMEOUTS else "E_INGEST_FAILED"
