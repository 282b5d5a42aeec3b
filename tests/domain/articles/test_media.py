import json
from dataclasses import replace
from typing import Any, get_args
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.articles import media as states
from feedcrawl.domain.articles.media import (
    MAX_REVISIONS,
    TRANSITIONS,
    IllegalTransition,
    Media,
    Status,
    Step,
    after,
    already_done,
    error_code,
    media_from,
    media_id,
    new_media,
)

UID = "0123456789abcdef"
URL = "http://a.test/1"
T0, T1, T2, T3 = (f"2026-11-28T00:00:0{n}.000Z" for n in range(4))
HASH, OTHER = "ab" * 32, "cd" * 32

LEGAL: dict[Status, dict[Step, Status]] = {
    "pending": {"start": "extracting", "merge": "duplicate", "retry": "pending"},
    "extracting": {"start": "extracting", "succeed": "ready_for_reading", "fail": "failed", "merge": "duplicate"},
    "ready_for_reading": {
        "start": "ready_for_reading",
        "succeed": "ready_for_reading",
        "fail": "ready_for_reading",
        "merge": "ready_for_reading",
    },
    "failed": {"start": "extracting", "merge": "duplicate", "retry": "pending"},
    "duplicate": {
        "start": "duplicate",
        "merge": "duplicate",
        "fail": "duplicate",
        "succeed": "ready_for_reading",
        "part": "pending",
    },
}


@pytest.mark.parametrize("status", get_args(Status))
@pytest.mark.parametrize("step", get_args(Step))
def test_every_transition(status: Status, step: Step) -> None:
    expected = LEGAL[status].get(step)
    if expected is not None:
        assert after(status, step) == expected
        return
    with pytest.raises(IllegalTransition) as raised:
        after(status, step)
    assert raised.value.code == f"media_{status}"
    assert step in raised.value.detail


def test_the_table_has_no_other_names() -> None:
    assert {status for status, _ in TRANSITIONS} == set(TRANSITIONS.values()) == set(get_args(Status))


def test_an_id_follows_from_the_uid() -> None:
    assert media_id(UID) == "0863d8c7-7cb3-5771-a684-988edda2508d"  # others keep it: it must never change
    assert UUID(media_id(UID[::-1])).version == 5


@pytest.fixture
def pending() -> Media:
    return new_media(UID, URL, T0)


def succeeded(media: Media, at: str = T2, content_hash: str = HASH) -> Media:
    return states.succeeded(media, at, canonical_url=URL, content_hash=content_hash)


def test_a_page_record_becomes_ready(pending: Media) -> None:
    assert (pending.processing_status, pending.processing_attempts, pending.created_at) == ("pending", 0, T0)
    begun = states.started(pending, T1)
    assert (begun.processing_status, begun.processing_attempts, begun.processing_started_at) == ("extracting", 1, T1)
    done = succeeded(begun)
    assert (done.processing_status, done.processing_completed_at, done.failed_at) == ("ready_for_reading", T2, None)
    assert (done.canonical_url, done.content_hash, done.processing_attempts) == (URL, HASH, 1)
    assert done.revisions == ({"content_hash": HASH, "at": T2},)
    assert done.updated_at == T2


@pytest.mark.parametrize(
    ("code", "reason", "detail", "error", "message"),
    [
        ("FAIL_HTTP", "http_404", "", "E_INGEST_FAILED", "FAIL_HTTP http_404"),
        ("FAIL_TIMEOUT", "total_timeout", "30 s", "E_INGEST_TIMEOUT", "FAIL_TIMEOUT total_timeout: 30 s"),
        ("FAIL_PARSE", "parse_timeout", "10 s", "E_INGEST_TIMEOUT", "FAIL_PARSE parse_timeout: 10 s"),
        ("FAIL_TIMEOUT", "render_timeout", "", "E_INGEST_TIMEOUT", "FAIL_TIMEOUT render_timeout"),
        ("FAIL_PARSE", "sanitize_failed", "", "E_SANITIZATION_FAILED", "FAIL_PARSE sanitize_failed"),
        ("FAIL_PARSE", "parse_failed", "broken", "E_INGEST_FAILED", "FAIL_PARSE parse_failed: broken"),
        ("FAIL_EMPTY", "empty", "x" * 900, "E_INGEST_FAILED", ("FAIL_EMPTY empty: " + "x" * 900)[:500]),
    ],
)
def test_a_page_record_becomes_failed_and_is_retried(
    pending: Media, code: str, reason: str, detail: str, error: str, message: str
) -> None:
    lost = states.failed(states.started(pending, T1), T2, code=code, reason=reason, detail=detail)
    assert (lost.processing_status, lost.failed_at, lost.failure_stage) == ("failed", T2, "extract")
    assert (lost.last_error_code, lost.last_error_message) == (error, message)
    assert lost.processing_completed_at is None
    assert error_code(code, reason) == error
    again = states.retried(lost, T3)
    assert (again.processing_status, again.last_error_code) == ("pending", error)
    done = succeeded(states.started(again, T3), T3)
    assert (done.last_error_code, done.last_error_message, done.processing_attempts) == (None, None, 2)


def test_an_edit_is_a_new_version_and_stays_readable(pending: Media) -> None:
    done = succeeded(states.started(pending, T1))
    edit = states.started(done, T2)
    assert edit.processing_status == "ready_for_reading"
    assert succeeded(edit, T3).revisions == done.revisions
    newer = succeeded(edit, T3, OTHER)
    assert newer.revisions == ({"content_hash": OTHER, "at": T3}, {"content_hash": HASH, "at": T2})
    missed = states.failed(edit, T3, code="FAIL_HTTP", reason="http_404")
    assert (missed.processing_status, missed.last_error_code, missed.content_hash) == ("ready_for_reading", None, HASH)


def test_versions_are_bounded(pending: Media) -> None:
    media = states.started(pending, T1)
    for number in range(MAX_REVISIONS + 5):
        media = succeeded(media, T2, f"{number:064x}")
    assert [each["content_hash"] for each in media.revisions][:2] == [
        f"{MAX_REVISIONS + 4:064x}",
        f"{MAX_REVISIONS + 3:064x}",
    ]
    assert len(media.revisions) == MAX_REVISIONS


def test_a_duplicate_leads_to_the_target_and_back(pending: Media) -> None:
    lost = states.merged(states.started(pending, T1), T2, "winner")
    assert (lost.processing_status, lost.duplicate_of) == ("duplicate", "winner")
    parted = states.parted(lost, T3)
    assert (parted.processing_status, parted.duplicate_of) == ("pending", None)
    own = succeeded(states.started(lost, T3), T3)
    assert (own.processing_status, own.duplicate_of) == ("ready_for_reading", None)
    assert states.merged(own, T3, "winner") == own


@pytest.mark.parametrize(("counted", "attempts"), [((0,), 1), ((0, 0), 1), ((0, 1), 2), ((0, 1, 1, 2), 3), ((2,), 3)])
def test_an_attempt_is_counted_once_however_often_it_starts(
    pending: Media, counted: tuple[int, ...], attempts: int
) -> None:
    media = pending
    for before in counted:
        media = states.started(media, T1, attempts=before)
    assert media.processing_attempts == attempts
    media = states.retried(states.failed(media, T2, code="FAIL_HTTP", reason="http_500"), T2)
    assert states.started(media, T3).processing_attempts == attempts + 1


@pytest.mark.parametrize(("since", "done"), [(T1, True), (T2, True), (T3, False)])
def test_a_record_completed_since_the_start_of_its_task_is_done(pending: Media, since: str, done: bool) -> None:
    assert already_done(succeeded(states.started(pending, T1)), since) is done
    assert not already_done(pending, since)
    assert not already_done(replace(pending, processing_status="failed", processing_completed_at=T3), since)


STEPS = st.sampled_from(get_args(Step))


@given(st.lists(STEPS, max_size=12))
def test_any_sequence_of_transitions_keeps_the_record_consistent(steps: list[Step]) -> None:
    media = new_media(UID, URL, T0)
    does = {
        "start": lambda record: states.started(record, T1),
        "succeed": succeeded,
        "fail": lambda record: states.failed(record, T2, code="FAIL_HTTP", reason="http_404"),
        "merge": lambda record: states.merged(record, T2, "winner"),
        "part": lambda record: states.parted(record, T2),
        "retry": lambda record: states.retried(record, T2),
    }
    for step in steps:
        legal = (media.processing_status, step) in TRANSITIONS
        try:
            media = does[step](media)
        except IllegalTransition:
            assert not legal
            continue
        assert legal
        assert (media.processing_status == "duplicate") == (media.duplicate_of is not None)
        assert (
            media.processing_status != "ready_for_reading" or media.revisions[0]["content_hash"] == media.content_hash
        )
        assert media.processing_status != "failed" or media.last_error_code
        assert media_from(json.loads(json.dumps(media.to_record()))) == media


def test_a_public_record_has_its_fragments_and_versions(pending: Media) -> None:
    done = succeeded(states.started(pending, T1))
    shown = states.public(done, states.fragments("<p>t", "t"))
    assert shown["fragments"] == [{"idx": 0, "html_sanitized": "<p>t", "canonical_text": "t"}]
    assert shown["revisions"] == [{"content_hash": HASH, "at": T2}]
    assert "earlier_attempts" not in shown
    assert (shown["failed_at"], shown["media_id"]) == (None, media_id(UID))
    assert (shown["duplicate"], shown["request_id"]) == (False, None)


@pytest.mark.parametrize("parts", [[], states.fragments("<p>t", "t")])
@pytest.mark.parametrize("status", get_args(Status))
def test_capabilities_follow_from_status_and_fragments(
    pending: Media, status: Status, parts: list[dict[str, Any]]
) -> None:
    shown = states.public(replace(pending, processing_status=status), parts)
    can = status == "ready_for_reading" and bool(parts)
    assert shown["capabilities"] == {"can_read": can, "can_highlight": can, "can_quote": can}
    assert shown["duplicate"] == (status == "duplicate")


def test_names_of_later_versions_are_left_aside() -> None:
    assert media_from({**new_media(UID, URL, T0).to_record(), "mood": "good"}) == new_media(UID, URL, T0)
