"""The part that polls of feeds and polls of sitemaps share once the response is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, cast

from feedcrawl.domain import cadence
from feedcrawl.domain.cadence.state import to_json
from feedcrawl.domain.dates import believable, rfc3339
from feedcrawl.domain.frontier.traces import trace_id
from feedcrawl.domain.http.conditional import Validators

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from feedcrawl.domain.models import PublisherHints
    from feedcrawl.domain.subscriptions.published import JournalLineRecord
    from feedcrawl.items import Poll


def observation(
    poll: Poll, published: Iterable[datetime | None], counts: tuple[int, int, int], hints: PublisherHints
) -> cadence.Observation:
    """The result of a poll in the form that the cadence reads; `counts` are the numbers of new, known and first
    seen entries.
    """
    new, known, first_seen = counts
    moments = sorted((each for each in published if each), reverse=True)
    return cadence.Observation(
        status=None if poll.failed and poll.status is not None and 200 <= poll.status < 300 else poll.status,
        new_entries=new,
        known_entries=known,
        published=tuple(each for each in moments if believable(each, poll.at)),
        first_seen=(poll.at,) * first_seen,
        retry_after_sec=poll.retry_after_sec,
        max_age_sec=poll.max_age_sec,
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


def scheduled(poll: Poll) -> Scheduled:
    """Fields of the record that the next poll begins with: its time and reason, and the result of this poll."""
    decision = poll.decision
    assert decision is not None
    return {
        "cadence": to_json(decision.state),
        "interval_sec": round(decision.interval_sec, 3),
        "next_at": rfc3339(decision.next_at),
        "reason": decision.reason,
        "candidates": tuple((one.rule, round(one.wait_sec, 1)) for one in decision.candidates),
        "last_fetch_at": rfc3339(poll.at),
        "last_status": poll.status,
        "last_result": poll.result,
    }


def newest(poll: Poll, held: Validators) -> Validators:
    """The validators for the next request: those received; after a 304, completed from the stored ones."""
    received = poll.validators or Validators()
    return held.updated(received) if poll.result == "not_modified" else received


def journal_fields(poll: Poll, interval_before_sec: float | None) -> dict[str, object]:
    """Fields of a journal line."""
    decision = poll.decision
    assert decision is not None
    return {
        "poll_id": poll.poll_id,
        "at": rfc3339(poll.at),
        "http_status": poll.status,
        "result": poll.result,
        "detail": poll.detail[:200],
        "bytes": poll.body_bytes,
        "wire_bytes": poll.wire_bytes,
        "duration_sec": poll.duration_sec,
        "outgoing": poll.outgoing,
        "reason": decision.reason,
        "interval_before_sec": interval_before_sec,
        "interval_after_sec": round(decision.interval_sec, 3),
        "next_at": rfc3339(decision.next_at),
        "trace_id": trace_id(poll.lease.task.payload),
    }


def filled(line: Mapping[str, object]) -> JournalLineRecord:
    """A journal line without the fields that are None, empty, 0 or False; `interval_after_sec` always stays."""
    empty: tuple[object, ...] = (None, "", 0, [])  # 0 also removes False
    kept = {name: value for name, value in line.items() if name == "interval_after_sec" or value not in empty}
    return cast("JournalLineRecord", kept)
