from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.cadence import CadencePolicy, Observation, PollState, from_json, next_poll, to_json
from feedcrawl.domain.cadence.learned import in_burst
from feedcrawl.domain.publisher_hints import PublisherHints

START = datetime(2026, 6, 1, tzinfo=UTC)  # a Monday
HOUR, DAY = 3_600.0, 86_400.0
LEARNED = CadencePolicy(name="learned", fairness=0.0)


def play(hours, *, days, policy=LEARNED, window=20, jitter=0.0, through_json=False):
    """Decisions and delays (minutes) of a feed that publishes at these hours, sorted, from START on."""
    entries = [START + timedelta(hours=hour) for hour in hours]
    now, state, shown, decisions, delays = START, PollState(), 0, [], []
    while now < START + timedelta(days=days):
        there = sum(1 for entry in entries if entry <= now)
        new = min(there - shown, window)
        document = tuple(reversed(entries[max(0, there - window) : there]))
        seen = Observation(200, new, len(document) - new, document) if new else Observation(304, 0, 0)
        decision = next_poll(state, seen, now=now, policy=policy, jitter=jitter)
        delays += [(now - entry).total_seconds() / 60 for entry in entries[shown:there]]
        decisions.append((now, decision))
        state = from_json(to_json(decision.state)) if through_json else decision.state
        now, shown = decision.next_at, there
    return decisions, delays


def poisson(per_day, days, seed=1):
    chance, hour, hours = Random(seed), 0.0, []
    while hour < 24 * days:
        hour += chance.expovariate(per_day / 24)
        hours.append(hour)
    return hours


def polls_per_day(decisions, after_days):
    late = [now for now, _ in decisions if now >= START + timedelta(days=after_days)]
    return len(late) / ((late[-1] - late[0]).total_seconds() / DAY)


@pytest.mark.parametrize(("per_day", "polls"), [(0.25, 12), (1, 24), (4, 48)])
def test_polls_go_with_the_root_of_the_rate(per_day, polls):
    decisions, _ = play(poisson(per_day, 60), days=60)
    assert polls_per_day(decisions, 30) == pytest.approx(polls, rel=0.4)


def test_fairness_serves_feeds_alike():
    for per_day in (0.25, 4):
        decisions, _ = play(poisson(per_day, 60), days=60, policy=replace(LEARNED, fairness=1.0))
        assert polls_per_day(decisions, 30) == pytest.approx(24, rel=0.35)


@pytest.mark.parametrize("tempo", [0.5, 2.0])
def test_tempo(tempo):
    decisions, _ = play(poisson(2, 40), days=40, policy=replace(LEARNED, tempo=tempo))
    usual, _ = play(poisson(2, 40), days=40)
    assert polls_per_day(decisions, 20) * tempo == pytest.approx(polls_per_day(usual, 20), rel=0.2)


@pytest.mark.parametrize(
    ("hours", "days", "within"),
    [
        ([number + 0.4 for number in range(24 * 20)], 20, 1),
        ([24 * number + 7.3 for number in range(60)], 60, 5),
        ([24 * number + 7.3 + 0.05 * (number % 4) for number in range(60)], 60, 15),
        ([24 * number + 7.3 for number in range(90) if number % 7 < 5], 90, 5),
        ([168 * number + 31.5 for number in range(20)], 140, 10),
    ],
    ids=["hourly", "daily", "daily, within minutes", "on working days", "weekly"],
)
def test_a_regular_publisher_is_polled_just_after_it_publishes(hours, days, within):
    decisions, delays = play(hours, days=days)
    late = delays[len(delays) // 2 :]
    assert sum(late) / len(late) < within
    assert any(candidate.rule == "timetable" for candidate in decisions[-1][1].candidates)


def test_a_regular_publisher_that_has_ended_is_no_longer_met_each_hour():
    decisions, _ = play([number + 0.4 for number in range(24 * 20)], days=80)
    assert polls_per_day(decisions, 60) < 15
    assert all(candidate.rule != "timetable" for candidate in decisions[-1][1].candidates)


def test_hours_of_the_week_are_learnt():
    chance = Random(3)
    hours = sorted(24 * day + 9 + 8 * chance.random() for day in range(120) for _ in range(4) if day % 7 < 5)
    decisions, _ = play(hours, days=120)
    late = [now for now, _ in decisions if now > START + timedelta(days=80)]
    busy = sum(1 for now in late if now.weekday() < 5 and 9 <= now.hour < 17) / 40
    quiet = sum(1 for now in late if now.weekday() >= 5 or now.hour < 7 or now.hour >= 19) / 100
    assert busy > 4 * quiet


def test_a_burst_is_noticed():
    quiet = [24 * 7 * number for number in range(10)]
    burst = [24 * 70 + 0.3 * number for number in range(40)]
    decisions, delays = play(quiet + burst, days=75)
    assert max(delays[-20:]) < 90
    assert sum(delays[-20:]) < sum(delays[-40:-20])
    during = [now for now, _ in decisions if START + timedelta(days=70) < now < START + timedelta(days=70.5)]
    before = [now for now, _ in decisions if START + timedelta(days=65) < now < START + timedelta(days=65.5)]
    assert len(during) > 3 * len(before)


def test_a_feed_that_has_ended_is_polled_ever_more_rarely():
    decisions, _ = play(poisson(4, 30), days=300)
    waits = [decision.interval_sec for now, decision in decisions if now > START + timedelta(days=40)]
    assert waits[-1] > 4 * waits[0]
    assert waits[-1] <= DAY


def test_the_window_is_not_overrun():
    decisions, _ = play(
        [0.1 * number for number in range(24 * 10 * 20)], days=20, window=20, policy=replace(LEARNED, tempo=9.0)
    )
    assert all(decision.interval_sec < 2 * HOUR for now, decision in decisions if now > START + timedelta(days=2))
    assert not any(c.rule == "overrun" for _, decision in decisions[-300:] for c in decision.candidates)


@pytest.mark.parametrize(
    ("times", "window", "now", "wait_sec"),
    [
        ([0, 60, 120, 180, 240, 300], 20, 300, 600),
        ([0, 60, 120, 180, 240, 300], 10, 599, 300),
        ([0, 9_000, 9_060, 9_120, 9_180, 9_240, 9_300], 20, 9_300, 600),
        ([0, 290, 295, 300, 300, 300], 20, 311, 600),
        ([0, 290, 295, 300, 300, 300], 20, 306, 25),
        ([0, 90_000, 90_060, 90_120], 20, 90_150, 600),
        ([0, 90_000, 90_060, 90_120], 20, 90_240, None),
        ([0, 60, 120, 180, 240, 300], 20, 600, None),
        ([240, 300], 20, 300, None),
        ([300] * 6, 20, 300, None),
        ([0, 600, 1_200, 1_800, 2_400, 3_000], 20, 3_000, None),
        ([], 20, 300, None),
    ],
    ids=[
        "a minute apart",
        "a shorter window",
        "after a pause",
        "uneven",
        "uneven, its last entries a moment ago",
        "the first three entries after a silence",
        "three entries and a pause as long",
        "ended",
        "too few",
        "one date",
        "slow",
        "no dates",
    ],
)
def test_a_burst_that_goes_on_may_fill_half_of_the_window(times, window, now, wait_sec):
    assert in_burst(times, window, now, 3_600) == (() if wait_sec is None else (("burst", wait_sec),))


def test_a_burst_is_not_lost_once_it_was_noticed():
    quiet = [24.0 * 30 * number for number in range(6)]
    burst = [24 * 170 + number / 40 for number in range(480)]
    decisions, _ = play(quiet + burst, days=170.5, window=10, policy=replace(LEARNED, tempo=8.0))
    rules = [{candidate.rule for candidate in decision.candidates} for _, decision in decisions]
    met = next(number for number, found in enumerate(rules) if "burst" in found)
    assert len(rules) > met + 40
    assert not any("overrun" in found for found in rules[met + 1 :])


def test_a_document_without_a_known_entry_halves_the_wait():
    state = next_poll(PollState(), Observation(200, 3, 0), now=START, policy=LEARNED, jitter=0).state
    later = START + timedelta(hours=2)
    decision = next_poll(state, Observation(200, 20, 0), now=later, policy=LEARNED, jitter=0)
    assert ("overrun", HOUR) in decision.candidates
    assert decision.interval_sec <= HOUR


def test_a_feed_without_dates_starts_with_the_initial_interval():
    decision = next_poll(PollState(), Observation(200, 20, 0), now=START, policy=LEARNED, jitter=0)
    assert ("initial", 900) in decision.candidates
    assert decision.interval_sec == 900


def test_a_young_feed_is_judged_by_the_dates_of_its_first_document():
    waits = []
    for gap in (1, 12, 24 * 7):
        dates = tuple(START - timedelta(hours=gap * (number + 0.5)) for number in range(20))
        decision = next_poll(PollState(), Observation(200, 20, 0, dates), now=START, policy=LEARNED, jitter=0)
        waits.append(decision.interval_sec)
    assert waits == sorted(waits)
    assert waits[0] < 0.6 * HOUR
    assert waits[2] > 2 * HOUR


@pytest.mark.parametrize("per_day", [0.01, 1, 400])
@pytest.mark.parametrize("tempo", [0.25, 1.0, 4.0])
def test_limits(per_day, tempo):
    policy = replace(LEARNED, tempo=tempo)
    decisions, _ = play(poisson(per_day, 6), days=5, policy=policy)
    for _, decision in decisions:
        assert min(1, tempo) * 300 <= decision.interval_sec <= DAY * max(1, tempo)


def test_jitter_spreads_but_a_timetable_is_kept():
    hourly, _ = play([number + 0.4 for number in range(24 * 10)], days=10)
    state, now = hourly[-1][1].state, hourly[-1][1].next_at
    waits = [
        next_poll(state, Observation(304, 0, 0), now=now, policy=LEARNED, jitter=jitter).interval_sec
        for jitter in (-1, 0, 1)
    ]
    assert waits[1] <= waits[0] == waits[2] <= waits[1] + 30
    free, _ = play(poisson(2, 10), days=10)
    state, now = free[-1][1].state, free[-1][1].next_at
    waits = [
        next_poll(state, Observation(304, 0, 0), now=now, policy=LEARNED, jitter=jitter).interval_sec
        for jitter in (-1, 0, 1)
    ]
    assert waits[0] == pytest.approx(0.95 * waits[1])
    assert waits[2] == pytest.approx(1.05 * waits[1])


def test_hints_and_errors_are_treated_as_ever():
    state = play(poisson(2, 10), days=10)[0][-1][1].state
    hinted = Observation(200, 0, 20, hints=PublisherHints(ttl_minutes=600))
    decision = next_poll(state, hinted, now=START, policy=LEARNED, jitter=-1)
    assert (decision.interval_sec, decision.reason) == (36_000, "no-new-entries+ttl")
    failed = next_poll(state, Observation(500, 0, 0), now=START, policy=LEARNED, jitter=0)
    assert failed.interval_sec == pytest.approx(2 * state.interval_sec)
    assert failed.state == replace(state, errors=1)


def test_the_state_survives_json_and_stays_small():
    hours = sorted(Random(5).uniform(0, 24 * 200) for _ in range(6_000))
    hints = PublisherHints(10**6, frozenset(range(1, 24)), frozenset({"Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}), 10**6)
    direct, delays = play(hours[::10], days=100)
    through, same = play(hours[::10], days=100, through_json=True)
    assert len(through) == pytest.approx(len(direct), rel=0.02)
    assert sum(same) == pytest.approx(sum(delays), rel=0.05)
    for _, decision in direct[::50]:
        text = to_json(replace(decision.state, hints=hints, max_age_sec=86_399.999, ewma_sec=1e5, last_arrival=1.8e9))
        assert len(text) <= 600
        assert to_json(from_json(text)) == text


OLD_STATE = (
    '{"interval":3600.0,"errors":0,"arrivals":{"at":1780704000,"n":[5.0,4.0,1.0,0.1],"t":[432000,388000,129600,10800],'
    '"e":6.0,"new":1780700400,"ago":[86400,43200,0],"per":0,"win":20,"week":"%s","shape":"%s","since":1780272000,'
    '"weeks":0.0,"drawn":1780700400}}'
)


def test_a_state_of_the_previous_version_keeps_its_counts():
    state = from_json(OLD_STATE % ("0" * 96 + "8" + "0" * 9 + "4" + "0" * 61, "A" * 168))
    known = state.arrivals
    assert (known.counts, known.entries, known.window) == ((5.0, 4.0, 1.0, 0.1), 6.0, 20)
    assert {cell: count for cell, count in enumerate(known.week.counts) if count} == {0: 8, 10: 4, 28: 12}
    assert from_json(to_json(state)) == state
    assert from_json(OLD_STATE % ("0" * 167, "A" * 168)).arrivals is None


def test_a_program_that_publishes_at_two_minutes_of_the_hour_is_met():
    chance = Random(7)
    hours = [hour + (12 if chance.random() < 0.5 else 40) / 60 + chance.random() / 20 for hour in range(24 * 40)]
    decisions, delays = play(hours, days=40)
    minutes = [now.minute for now, _ in decisions[-400:]]
    late = delays[len(delays) // 2 :]
    assert sum(15 <= minute < 25 or 43 <= minute < 53 for minute in minutes) > 0.5 * len(minutes)
    assert sum(late) / len(late) < 0.7 * 60 * 24 / polls_per_day(decisions, 20) / 2


@pytest.mark.parametrize("loss", ['"cells":"', '"n":[', '"at":', '"shape":"'])
def test_a_state_that_makes_no_sense_is_a_new_feeds(loss):
    text = to_json(play(poisson(2, 3), days=3)[0][-1][1].state)
    assert from_json(text).arrivals is not None
    assert (
        from_json(
            text.replace(loss, loss + "~" if loss.endswith('"') else '"gone":[' if "[" in loss else '"gone":')
        ).arrivals
        is None
    )


statuses = st.sampled_from([200, 200, 304, 304, 500, 503, None])
polls = st.tuples(statuses, st.integers(0, 100), st.integers(0, 100), st.lists(st.floats(-9, 900), max_size=25))


@given(st.lists(polls, min_size=1, max_size=15), st.sampled_from([0.1, 1.0, 10.0]), st.floats(0, 1), st.floats(-1, 1))
def test_whatever_happens_the_next_poll_lies_within_reason(events, tempo, fairness, jitter):
    policy = replace(LEARNED, tempo=tempo, fairness=fairness)
    state, now = PollState(), START
    for status, new, known, hours in events:
        dates = tuple(now - timedelta(hours=hour) for hour in sorted(hours))
        decision = next_poll(state, Observation(status, new, known, dates), now=now, policy=policy, jitter=jitter)
        assert 300 * min(1, tempo) <= decision.interval_sec <= DAY * max(1, tempo)
        assert len(to_json(decision.state)) <= 600
        state, now = from_json(to_json(decision.state)), decision.next_at


def test_learned_is_the_default():
    assert CadencePolicy().name == "learned"
