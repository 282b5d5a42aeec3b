from datetime import UTC, datetime, timedelta

import pytest

from feedcrawl.domain.operations.import_jobs import MAX_REFUSED, ImportJob

AT = datetime(2026, 11, 28, 12, tzinfo=UTC)
JOB = ImportJob("1", listed=1000, left_out=7, created_at=AT, updated_at=AT)
BAD = {"url": "http://127.1/", "code": "address_refused", "detail": "…"}


def test_a_job_is_done_after_the_last_feed_though_some_were_the_same() -> None:
    half = JOB.advanced(500, 498, [BAD], now=AT)
    assert (half.status, half.done, half.subscribed, half.refused_count) == ("running", 500, 498, 1)
    whole = half.advanced(500, 400, [], now=AT)
    assert (whole.status, whole.done, whole.subscribed, whole.refused) == ("done", 1000, 898, (BAD,))


def test_every_refusal_is_counted_and_the_first_are_kept() -> None:
    job = JOB.advanced(MAX_REFUSED + 5, 0, [{**BAD, "url": str(n)} for n in range(MAX_REFUSED + 5)], now=AT)
    assert (job.refused_count, len(job.refused)) == (MAX_REFUSED + 5, MAX_REFUSED)
    assert job.refused[0]["url"] == "0"


@pytest.mark.parametrize(
    ("status", "silent_sec", "seen"),
    [
        ("running", 0, "running"),
        ("running", 60, "running"),
        ("running", 61, "interrupted"),
        ("done", 86_000, "done"),
    ],
)
def test_a_running_job_without_progress_was_interrupted(status: str, silent_sec: int, seen: str) -> None:
    job = ImportJob("1", 10, 0, AT, AT, status=status)
    assert job.seen(now=AT + timedelta(seconds=silent_sec)).status == seen
