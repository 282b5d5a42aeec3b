"""The part that polls of feeds and polls of sitemaps share once the response is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypedDict, cast

from feedcrawl.domain import cadence
from feedcrawl.domain.cadence.state import to_json
from feedcrawl.domain.dates import believable, rfc3339
from feedcrawl.domain.frontier.traces import trace_id
from feedcrawl.domain.http.conditional import Validators

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from feedcrawl.domain.cadence import Decision
    from feedcrawl.domain.publisher_hints import PublisherHints
    from feedcrawl.domain.subscriptions.published import JournalLineRecord
    from feedcrawl.items import Received, Requested

ALARM_ERRORS: Final = 10
"""Number of failures in a row from which on each failure is logged as an error."""


def observation(
    received: Received, published: Iterable[datetime | None], counts: tuple[int, int, int], hints: PublisherHints
) -> cadence.Observation:
    """The result of a poll in the form that the cadence reads; `counts` are the numbers of new, known and first
    seen entries.
    """
    (new, known, first_seen), status = counts, received.status
    moments = sorted((each for each in published if each), reverse=True)
    return cadence.Observation(
        status=None if received.failed and status is not None and 200 <= status < 300 else status,
        new_entries=new,
        known_entries=known,
        published=tuple(each for each in moments if believable(each, received.at)),
        first_seen=(received.at,) * first_seen,
        retry_after_sec=received.retry_after_sec,
        max_age_sec=received.max_age_sec,
        hints=hints,
    )


class Scheduled(TypedDict):
    """The time and reason of the next poll, and the result of this poll, as fields of a record."""

    cadence: str
    interval_sec: float
    next_at: str
    reason: str
    candidates: tuple[tuple[str, float], ...]
    last_fetch_at: str
    last_status: int | None
    last_result: str


def scheduled(received: Received, decision: Decision) -> Scheduled:
    """Fields of the record that the next poll begins with: its time and reason, and the result of this poll."""
    return {
        "cadence": to_json(decision.state),
        "interval_sec": round(decision.interval_sec, 3),
        "next_at": rfc3339(decision.next_at),
        "reason": decision.reason,
        "candidates": tuple((one.rule, round(one.wait_sec, 1)) for one in decision.candidates),
        "last_fetch_at": rfc3339(received.at),
        "last_status": received.status,
        "last_result": received.result,
    }


def newest(received: Received, stored: Validators) -> Validators:
    """The validators for the next request: those received; after a 304, completed from the stored ones."""
    validators = received.validators or Validators()
    return stored.updated(validators) if received.result == "not_modified" else validators


def journal_fields(
    requested: Requested, received: Received, decision: Decision, interval_before_sec: float | None
) -> dict[str, object]:
    """Fields of a journal line."""
    return {
        "poll_id": requested.poll_id,
        "at": rfc3339(received.at),
        "http_status": received.status,
        "result": received.result,
        "detail": received.detail[:200],
        "bytes": received.body_bytes,
        "wire_bytes": received.wire_bytes,
        "duration_sec": received.duration_sec,
        "outgoing": received.outgoing,
        "reason": decision.reason,
        "interval_before_sec": interval_before_sec,
        "interval_after_sec": round(decision.interval_sec, 3),
        "next_at": rfc3339(decision.next_at),
        "trace_id": trace_id(requested.lease.task.payload),
    }


def filled(line: Mapping[str, object]) -> JournalLineRecord:
    """A journal line without the fields that are None, empty, 0 or False; `interval_after_sec` always stays."""
    empty: tuple[object, ...] = (None, "", 0, [])  # 0 also removes False
    kept = {name: value for name, value in line.items() if name == "interval_after_sec" or value not in empty}
    return cast("JournalLineRecord", kept)
