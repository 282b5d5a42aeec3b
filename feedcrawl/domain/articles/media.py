"""What becomes of an article that someone asked for, or that a feed brought: the states of its media record.

    pending ──start──▶ extracting ──succeed──▶ ready_for_reading
       ▲                   │  └─────fail─────▶ failed
       └───── retry ───────┼──────────────────────┘
                           └─────join──▶ duplicate (of the record that another URL of the story has)

A record is a value; a step gives the next one or raises IllegalTransition. Codes and stage are those of the fields
`last_error_code` and `failure_stage`; the reason code of logs and dead letters stands in the message.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import UUID, uuid5

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Status = Literal["pending", "extracting", "ready_for_reading", "failed", "duplicate"]
Step = Literal["start", "succeed", "fail", "join", "part", "retry"]

TRANSITIONS: Final[Mapping[tuple[Status, Step], Status]] = {
    ("pending", "start"): "extracting",
    ("pending", "join"): "duplicate",  # another URL has brought the article already: there is nothing to fetch
    ("pending", "retry"): "pending",  # its task may have been lost between the record and the push
    ("extracting", "start"): "extracting",  # given back, or taken over from a worker that died
    ("extracting", "succeed"): "ready_for_reading",
    ("extracting", "fail"): "failed",
    ("extracting", "join"): "duplicate",
    ("ready_for_reading", "start"): "ready_for_reading",  # an edit: what can be read stays readable meanwhile
    ("ready_for_reading", "succeed"): "ready_for_reading",
    ("ready_for_reading", "fail"): "ready_for_reading",  # what was read once stays
    ("ready_for_reading", "join"): "ready_for_reading",  # met again under another URL
    ("failed", "start"): "extracting",  # a dead letter that was put back
    ("failed", "join"): "duplicate",
    ("failed", "retry"): "pending",
    ("duplicate", "start"): "duplicate",
    ("duplicate", "join"): "duplicate",
    ("duplicate", "fail"): "duplicate",
    ("duplicate", "succeed"): "ready_for_reading",  # it tells another story by now
    ("duplicate", "part"): "pending",  # an operator has undone the join
}
NAMESPACE: Final = UUID("6f0a3ed0-9d5b-4f0e-8b3e-2f0f6f9f3c51")
STAGE: Final = "extract"
"""The stage of every failure of a web article: upload, transcribe and embed belong to other media."""
TIMEOUTS: Final = frozenset({"parse_timeout", "total_timeout", "connect_timeout", "render_timeout"})
MAX_REVISIONS: Final = 20


class IllegalTransition(Refusal):
    """A step that a record cannot take from where it is; the code is `media_<status>`."""


@dataclass(frozen=True, slots=True)
class Media:
    """The record of one article in the making. Times are RFC 3339 in UTC.

    `revisions` are its versions, newest first, each with `content_hash` and `at`; `duplicate_of` is the media_id of
    the article that it joined. `earlier_attempts` are those before the present round of attempts; `request_id` names
    the request that first asked for it.
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
    last_error_code: str | None = None
    last_error_message: str | None = None
    duplicate_of: str | None = None
    content_hash: str | None = None
    revisions: tuple[dict[str, str], ...] = ()
    earlier_attempts: int = 0
    request_id: str | None = None

    def to_record(self) -> dict[str, Any]:
        """As JSON values, without what is not set."""
        return {name: value for name, value in asdict(self).items() if value not in (None, (), 0)}


def media_id(uid: str) -> str:
    """The UUID of an article's record: the same wherever it is computed, so that no table has to lead there."""
    return str(uuid5(NAMESPACE, uid))


def new_media(uid: str, url: str, at: str, request_id: str | None = None) -> Media:
    """The record of what was asked for at a URL, before anything has been done."""
    return Media(media_id(uid), uid, url, created_at=at, updated_at=at, request_id=request_id)


def media_from(record: Mapping[str, Any]) -> Media:
    """What `to_record` gave; names that this version does not know are left aside."""
    known = {name: record[name] for name in Media.__dataclass_fields__ if name in record}
    return Media(**{**known, "revisions": tuple(known.get("revisions", ()))})


def after(status: Status, step: Step) -> Status:
    """The state that a step leads to; IllegalTransition where there is none."""
    try:
        return TRANSITIONS[status, step]
    except KeyError:
        raise IllegalTransition(f"media_{status}", f"a record that is {status} cannot {step}") from None


def started(media: Media, at: str, *, attempts: int = 0) -> Media:
    """An attempt begins. `attempts` that count have been made before in this round, so that telling twice is once."""
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
    """The article is there; a text that differs from the last is a new version."""
    status = after(media.processing_status, "succeed")
    revisions = media.revisions
    if content_hash != media.content_hash:
        revisions = ({"content_hash": content_hash, "at": at}, *revisions)[:MAX_REVISIONS]
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
    """The attempt has failed for good; `code` is the article's failure code, `reason` the reason code."""
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


def joined(media: Media, at: str, winner: str) -> Media:
    """The article turned out to be the one with this media_id."""
    status = after(media.processing_status, "join")
    if status != "duplicate":
        return media
    return replace(media, processing_status=status, duplicate_of=winner, updated_at=at)


def parted(media: Media, at: str) -> Media:
    """A join was undone: the article is one of its own again, once it is read."""
    status = after(media.processing_status, "part")
    return replace(media, processing_status=status, duplicate_of=None, updated_at=at)


def retried(media: Media, at: str) -> Media:
    """Someone asked for another round of attempts."""
    return replace(media, processing_status=after(media.processing_status, "retry"), updated_at=at)


def already_done(media: Media, since: str) -> bool:
    """Whether a task that is known since then has brought its article, and only its end was lost."""
    done = media.processing_status == "ready_for_reading"
    return done and media.processing_completed_at is not None and media.processing_completed_at >= since


def fragments(html: str, text: str) -> list[dict[str, Any]]:
    """The parts of an article as its readers get them: one, of the whole. A version's fragments never change."""
    return [{"idx": 0, "html_sanitized": html, "canonical_text": text}]


def capabilities(media: Media, parts: Sequence[dict[str, Any]]) -> dict[str, bool]:
    """What can be done with it: all, once its text is there, and nothing before."""
    is_there = media.processing_status == "ready_for_reading" and bool(parts)
    return dict.fromkeys(("can_read", "can_highlight", "can_quote"), is_there)


def public(media: Media, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The record as its readers get it: every field, what it means, and its fragments."""
    record = asdict(media)
    del record["earlier_attempts"]
    meant = {"duplicate": media.processing_status == "duplicate", "capabilities": capabilities(media, parts)}
    return {**record, "revisions": list(media.revisions), **meant, "fragments": parts}


def error_code(code: str, reason: str) -> str:
    """The code of a failure as readers of media records know it."""
    if reason == "sanitize_failed":
        return "E_SANITIZATION_FAILED"
    return "E_INGEST_TIMEOUT" if code == "FAIL_TIMEOUT" or reason in TIMEOUTS else "E_INGEST_FAILED"
