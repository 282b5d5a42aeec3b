import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.cadence import (
    CadencePolicy,
    Observation,
    PollState,
    at_least,
    from_json,
    next_poll,
    once_answered,
    to_json,
)
from feedcrawl.domain.cadence.values import Candidate
from feedcrawl.domain.publisher_hints import PublisherHints

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)  # a Friday
HOUR, DAY = 3_600, 86_400
BASELINE = CadencePolicy(name="baseline")
NOTHING = Observation(304, 0, 0)
SAME = Observation(200, 0, 20)
NEW = Observation(200, 2, 18)


def ago(*minutes):
    return tuple(NOW - timedelta(minutes=count) for count in minutes)


def decide(state=None, seen=NOTHING, *, policy=BASELINE, jitter=0.0, now=NOW):
    return next_poll(state or PollState(), seen, now=now, policy=policy, jitter=jitter)


def waits(*seen, policy=BASELINE, state=None):
    state, now, got = state or PollState(), NOW, []
    for observation in seen:
        decision = decide(state, observation, policy=policy, now=now)
        assert decision.next_at == now + timedelta(seconds=decision.interval_sec)
        state, now = decision.state, decision.next_at
        got.append(decision.interval_sec)
    return got


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ([NOTHING] * 3, [1_125, 1_406.25, 1_757.8125]),
        ([SAME, SAME], [1_125, 1_406.25]),
        ([NOTHING] * 30, [min(900 * 1.25**n, DAY) for n in range(1, 31)]),
        # Without dates, the gap is between arrivals: 675 s between two polls that found two entries each.
        ([NEW], [675]),
        ([NEW, NEW], [675, 0.5 * 337.5 + 0.5 * 675 * 0.75]),
        # A failure leaves the interval as it is; the next success goes on from it.
        ([NOTHING, Observation(500, 0, 0), NOTHING], [1_125, 2_250, 1_406.25]),
        ([NOTHING, Observation(None, 0, 0), Observation(404, 0, 0)], [1_125, 2_250, 4_500]),
        ([Observation(500, 0, 0)] * 9, [1_800, 3_600, 7_200, 14_400, 28_800, 57_600, DAY, DAY, DAY]),
        ([Observation(503, 0, 0)] * 4, [1_800, 3_600, 3_600, 3_600]),
        ([Observation(429, 0, 0)] * 2, [1_800, 3_600]),
        ([Observation(429, 0, 0, retry_after_sec=120.0), NOTHING], [120, 1_125]),
    ],
)
def test_sequences(seen, expected):
    assert waits(*seen) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        (ago(0, 60, 120), 3_600),
        (ago(0, 50, 100, 200), 3_000 * 0.3 + 0.7 * (3_000 * 0.3 + 6_000 * 0.7)),
        (ago(120, 0, 60), 3_600),  # order does not matter
        (ago(-600, -60, 0, 60), 3_600),  # what lies in the future does not count
        (ago(*range(0, 30 * 60, 60)), 3_600),  # the newest twenty
        (ago(*range(20), *range(1_000, 90_000, 1_000)), 60),
        (ago(0), None),
        (ago(-60, -120), None),
        ((), None),
    ],
)
def test_the_gap_between_entries(published, expected):
    got = decide(seen=replace(NEW, published=published)).state.ewma_sec
    assert got == (None if expected is None else pytest.approx(expected))


def test_interval_is_blended_with_the_gap_and_stays_in_bounds():
    hourly = replace(NEW, published=ago(0, 60, 120))
    assert waits(hourly) == [0.5 * 3_600 + 0.5 * 675]
    yearly = replace(NEW, published=ago(0, 600_000))
    assert waits(yearly) == [0.5 * DAY + 0.5 * 675]
    assert waits(replace(NEW, published=ago(0, 0.1)), state=PollState(interval_sec=300)) == [300]
    assert waits(replace(NEW, published=ago(9, 9, 9)), NOTHING) == [675, 843.75], "an import tells no cadence"


def test_an_error_blends_no_interval():
    state = PollState(interval_sec=1_000.0, ewma_sec=50_000.0)
    assert waits(Observation(500, 0, 0), state=state) == [2_000]
    assert waits(Observation(503, 0, 0), state=state) == [2_000]


@pytest.mark.parametrize("status", [429, 503, 500, 404, None])
@pytest.mark.parametrize("interval", [300.0, 5_000.0, 40_000.0, 86_400.0, 200_000.0])
@pytest.mark.parametrize("jitter", [-1.0, 0.0, 1.0])
def test_backing_off_never_shortens_an_interval(status, interval, jitter):
    state = PollState(interval_sec=interval)
    for _ in range(4):
        decision = decide(state, Observation(status, 0, 0), jitter=jitter)
        assert decision.interval_sec >= interval
        assert decision.interval_sec <= max(interval, DAY)
        assert decision.state.interval_sec == interval
        state = decision.state


@pytest.mark.parametrize(
    ("status", "retry_after", "expected"),
    [
        (429, 120.0, 120),
        (503, 120.0, 120),
        (503, 7_200.0, 7_200),
        (429, 1.0, 1),
        (429, 1e9, DAY),
        (503, float("inf"), DAY),
        (429, 0.0, 1_800),
        (429, -5.0, 1_800),
        (429, float("nan"), 1_800),
        (500, 120.0, 1_800),
        (200, 7_200.0, 1_125),
    ],
)
def test_retry_after(status, retry_after, expected):
    assert waits(Observation(status, 0, 20, retry_after_sec=retry_after)) == [expected]


def test_retry_after_ends_the_decision():
    hints = PublisherHints(ttl_minutes=600, skip_hours=frozenset(range(12, 20)))
    state = PollState(interval_sec=900.0, hints=hints)
    decision = decide(state, Observation(429, 0, 0, retry_after_sec=120.0), jitter=1.0)
    assert decision.interval_sec == 120
    assert decision.reason == "retry-after"
    assert decision.candidates == (("retry-after", 120),)
    assert decision.state == replace(state, errors=1)


@pytest.mark.parametrize(
    ("hints", "max_age", "expected", "reason"),
    [
        (PublisherHints(), None, 1_125, "no-new-entries"),
        (PublisherHints(ttl_minutes=10), None, 1_125, "no-new-entries"),
        (PublisherHints(ttl_minutes=60), None, HOUR, "no-new-entries+ttl"),
        (PublisherHints(ttl_minutes=9_999_999), None, DAY, "no-new-entries+ttl"),
        (PublisherHints(ttl_minutes=10**400), None, DAY, "no-new-entries+ttl"),
        (PublisherHints(ttl_minutes=-60), None, 1_125, "no-new-entries"),
        (PublisherHints(update_period_sec=7_200), None, 7_200, "no-new-entries+update-period"),
        (PublisherHints(update_period_sec=1), None, 1_125, "no-new-entries"),
        (PublisherHints(), 1_800.0, 1_800, "no-new-entries+max-age"),
        (PublisherHints(), 16 * 365 * 86_400.0, DAY, "no-new-entries+max-age"),
        (PublisherHints(), float("nan"), 1_125, "no-new-entries"),
        (PublisherHints(ttl_minutes=60), 7_200.0, 7_200, "no-new-entries+max-age"),
    ],
)
@pytest.mark.parametrize("jitter", [0.0, -1.0])
def test_hints_are_floors_with_a_cap(hints, max_age, expected, reason, jitter):
    decision = decide(seen=replace(SAME, hints=hints, max_age_sec=max_age), jitter=jitter)
    assert decision.reason == reason
    assert decision.interval_sec == (pytest.approx(expected * 0.85) if expected == 1_125 and jitter else expected)


def test_sy_floor_is_ten_minutes():
    state = PollState(interval_sec=300.0)
    hasty = replace(NEW, hints=PublisherHints(update_period_sec=1))
    assert waits(hasty, state=state) == [600]


def test_hints_speak_on_a_304_and_after_an_error():
    hinted = replace(SAME, hints=PublisherHints(ttl_minutes=120), max_age_sec=1_000.0)
    assert waits(hinted, NOTHING, Observation(500, 0, 0), NOTHING) == [7_200] * 4


def test_a_document_read_anew_replaces_its_hints():
    hinted = replace(SAME, hints=PublisherHints(ttl_minutes=120))
    assert waits(hinted, SAME) == [7_200, 1_406.25]
    unread = Observation(200, 0, 0)
    assert waits(hinted, unread) == [7_200, 7_200]


def test_freshness_of_a_304():
    fresh = replace(SAME, max_age_sec=7_200.0)
    assert waits(fresh, NOTHING, replace(NOTHING, max_age_sec=10_000.0), SAME) == pytest.approx(
        [7_200, 7_200, 10_000, 900 * 1.25**4]
    )


@pytest.mark.parametrize(
    ("hours", "days", "expected"),
    [
        ({12}, set(), "2026-11-27T13:00:00"),
        ({0, 1}, {"Fri", "Sat", "Sun"}, "2026-11-30T02:00:00"),
        ({13, 14}, {"Mon"}, "2026-11-27T12:18:45"),
    ],
)
def test_skip_windows(hours, days, expected):
    hints = PublisherHints(skip_hours=frozenset(hours), skip_days=frozenset(days))
    decision = decide(seen=replace(SAME, hints=hints))
    assert decision.next_at == datetime.fromisoformat(expected).replace(tzinfo=UTC)
    assert decision.reason.endswith("+skip-window") == (decision.interval_sec != 1_125)
    assert decide(decision.state, NOTHING).state.hints == decision.state.hints


def test_jitter():
    assert decide(jitter=1.0).interval_sec == pytest.approx(1_125 * 1.15)
    assert decide(jitter=-1.0).interval_sec == pytest.approx(1_125 * 0.85)
    assert decide(jitter=-9.0).interval_sec == pytest.approx(1_125 * 0.85)
    assert decide(PollState(interval_sec=300.0), NEW, jitter=-1.0).interval_sec == 300, "not below the limit"
    assert decide(PollState(interval_sec=DAY), jitter=1.0).interval_sec == DAY, "nor above"
    assert decide(jitter=1.0).state == decide(jitter=-1.0).state


def test_jitter_stays_out_of_skip_windows():
    hints = PublisherHints(skip_hours=frozenset({12}))
    state = PollState(interval_sec=2_880.0, hints=hints)  # next at 13:00 sharp
    assert decide(state, jitter=0.0).next_at.hour == 13
    assert decide(state, jitter=-1.0).next_at == NOW + timedelta(hours=1)


def test_every_rule_that_applied_is_a_candidate():
    hints = PublisherHints(ttl_minutes=60, update_period_sec=60, skip_hours=frozenset({13}))
    seen = Observation(200, 1, 19, published=ago(0, 60), hints=hints, max_age_sec=90.0)
    decision = decide(seen=seen, jitter=0.5)
    assert decision.reason == "new-entries+skip-window"
    assert decision.candidates == (
        ("interval", 900),
        ("new-entries", 675),
        ("ewma", 3_600),
        ("blend", 2_137.5),
        ("ttl", 3_600),
        ("update-period", 600),
        ("max-age", 90),
        ("jitter", pytest.approx(3_600 + 2_137.5 * 0.15 / 2)),
        ("skip-window", 7_200),
    )


def test_reasons():
    reasons = [
        (NOTHING, "not-modified"),
        (SAME, "no-new-entries"),
        (NEW, "new-entries"),
        (Observation(None, 0, 0), "error-backoff"),
        (Observation(503, 0, 0), "error-backoff"),
        (Observation(503, 0, 0, retry_after_sec=60), "retry-after"),
    ]
    assert [decide(seen=seen).reason for seen, _ in reasons] == [reason for _, reason in reasons]


def test_errors_are_counted_in_a_row():
    state = PollState()
    for expected in range(1, 300):
        state = decide(state, Observation(None, 0, 0)).state
        assert state.errors == expected
    assert decide(state).state.errors == 0


@pytest.mark.parametrize("seen", [NOTHING, SAME, NEW])
def test_tempo_scales_the_wait_and_not_the_floors(seen):
    assert waits(seen, policy=replace(BASELINE, tempo=3.0)) == [3 * waits(seen)[0]]
    hinted = replace(seen, hints=PublisherHints(ttl_minutes=60))
    assert waits(hinted, policy=replace(BASELINE, tempo=0.1)) == [3_600]


statuses = st.one_of(st.none(), st.sampled_from([200, 200, 304, 304, 429, 503, 500, 404, 301]), st.integers(100, 999))
times = st.datetimes(datetime(1990, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
hint_values = st.builds(
    PublisherHints,
    ttl_minutes=st.none() | st.integers(-10, 10**6),
    skip_hours=st.frozensets(st.integers(0, 23)),
    skip_days=st.frozensets(st.sampled_from(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])),
    update_period_sec=st.none() | st.integers(-10, 10**8),
)
seconds = st.none() | st.floats(allow_nan=True, allow_infinity=True)
observations = st.builds(
    Observation,
    statuses,
    st.integers(0, 1_000),
    st.integers(0, 1_000),
    published=st.lists(times, max_size=30).map(tuple),
    first_seen=st.lists(times, max_size=5).map(tuple),
    retry_after_sec=seconds,
    max_age_sec=seconds,
    hints=hint_values,
)


@given(st.lists(st.tuples(observations, st.floats(-1, 1)), min_size=1, max_size=12), st.sampled_from([0.2, 1.0, 5.0]))
def test_whatever_happens_the_next_poll_lies_within_reason(polls, tempo):
    state, now, policy = PollState(), NOW, replace(BASELINE, tempo=tempo)
    for seen, jitter in polls:
        decision = next_poll(state, seen, now=now, policy=policy, jitter=jitter)
        assert 0 < decision.interval_sec <= DAY * max(tempo, 1) + 8 * DAY
        if decision.reason != "retry-after":
            floor = max(
                [wait for rule, wait in decision.candidates if rule in ("ttl", "update-period", "max-age")] + [0]
            )
            assert decision.interval_sec >= floor
            assert decision.interval_sec >= policy.min_interval_sec * tempo
            open_hours = len(decision.state.hints.skip_hours) < 24
            assert not (open_hours and decision.next_at.hour in decision.state.hints.skip_hours)
        text = to_json(decision.state)
        assert len(text) <= 1_024
        assert from_json(text) == from_json(to_json(from_json(text)))
        assert to_json(from_json(text)) == text
        state, now = from_json(text), decision.next_at


def test_json_is_small_and_forgiving():
    assert from_json(to_json(PollState())) == PollState()
    assert from_json('{"interval":900,"hue":"blue"}') == PollState(interval_sec=900.0)
    assert from_json('{"interval":"soon","errors":null,"skip_hours":[7],"skip_days":1025}') == PollState(
        hints=PublisherHints(skip_days=frozenset({"Mon"}))
    )
    assert from_json("[]") == PollState()
    assert json.loads(to_json(PollState(interval_sec=float("nan"), ewma_sec=0.0))) == {"ewma": 0.0, "errors": 0}
    with pytest.raises(ValueError):  # noqa: PT011
        from_json("{")


@pytest.mark.parametrize(
    ("seen", "hints", "expected"),
    [
        (Observation(None, 0, 0), {}, 900),
        (Observation(500, 0, 0), {}, 900),
        (Observation(503, 0, 0), {}, 900),
        (Observation(500, 0, 0), {"ttl_minutes": 60}, 3_600),  # its publisher's word holds as ever
        (Observation(500, 0, 0), {"ttl_minutes": 1_440}, None),
        (Observation(503, 0, 0, retry_after_sec=7_200.0), {}, None),
        (Observation(429, 0, 0), {}, None),
        (Observation(404, 0, 0), {}, None),
        (NOTHING, {}, None),
    ],
)
def test_the_wait_for_a_host_that_responds_again(seen, hints, expected):
    state = PollState(interval_sec=900, errors=4, hints=PublisherHints(**hints))
    assert once_answered(decide(state, seen, jitter=0.7), seen.status) == expected


def test_a_first_failure_without_a_longer_back_off_has_no_second_wait():
    decision = decide(PollState(interval_sec=DAY), Observation(500, 0, 0))
    assert once_answered(decision, 500) is None


@pytest.mark.parametrize(
    ("floor_sec", "wait_sec", "reason"),
    [
        (1_124, 1_125, "not-modified"),
        (1_125, 1_125, "not-modified"),
        (1_126, 1_126, "not-modified+hub"),
    ],
)
def test_a_floor_of_the_caller_only_lengthens_a_wait(floor_sec, wait_sec, reason):
    before = decide()
    floor = Candidate("hub", floor_sec)
    decision = at_least(before, floor, NOW)
    assert (decision.interval_sec, decision.reason) == (wait_sec, reason)
    assert decision.next_at == NOW + timedelta(seconds=wait_sec)
    assert decision.candidates == (*before.candidates, floor)
