import random
from datetime import UTC, datetime, timedelta

import pytest

from feedcrawl.domain.cadence import CadencePolicy, Observation, PollState, next_poll
from feedcrawl.domain.cadence.tempo import LONGEST, SHORTEST, demand, entries_per_day, forecast, tempo_for

HOUR = 3600.0


@pytest.mark.parametrize(
    ("per_sec", "budget", "tempo"),
    [
        (1.0, None, 1.0),
        (0.0, 100.0, 1.0),
        (1.0, 3600.0, 1.0),
        (2.0, 3600.0, 2.0),
        (0.5, 3600.0, 0.5),
        (1.0, 1e9, SHORTEST),
        (1e6, 1.0, LONGEST),
        (1.0, 0.0, LONGEST),
    ],
)
def test_the_tempo_that_keeps_a_budget(per_sec: float, budget: float | None, tempo: float) -> None:
    assert tempo_for(per_sec, budget) == tempo


def test_the_demand_of_a_feed_does_not_depend_on_the_tempo() -> None:
    assert demand(1.0, 600.0) == demand(4.0, 2400.0) == 1 / 600
    assert demand(1.0, 0.0) == 1.0


@pytest.mark.parametrize("floored_share", [0.0, 0.4])
def test_a_fleet_settles_at_its_budget_without_swinging(floored_share: float) -> None:
    """Of 300 feeds some are held by a floor; the budget is a third of what they ask for."""
    chance = random.Random(5)
    bases = [chance.uniform(300, 7200) for _ in range(300)]
    floors = [7200.0 if chance.random() < floored_share else 0.0 for _ in bases]
    budget = sum(HOUR / base for base in bases) / 3
    wanted, due, hours = [0.0] * 300, [0.0] * 300, [0] * 72
    now = 0.0
    while now < 72 * HOUR:
        tempo = tempo_for(sum(wanted), budget)
        for number in [each for each, at in enumerate(due) if at <= now]:
            wait = max(bases[number] * tempo, floors[number])
            wanted[number], due[number] = demand(tempo, wait), now + wait
            hours[int(now // HOUR)] += 1
        now += 60
    settled = hours[24:]
    assert sum(settled) / len(settled) == pytest.approx(budget, rel=0.05)
    assert max(sum(settled[at : at + 6]) for at in range(42)) < 1.15 * 6 * budget


def test_the_forecast_of_a_budget() -> None:
    start = datetime(2026, 11, 2, tzinfo=UTC)
    dates = tuple(start - timedelta(hours=6 * number) for number in range(20))
    seen = Observation(200, new_entries=20, known_entries=0, published=dates)
    known = next_poll(PollState(), seen, now=start, policy=CadencePolicy(), jitter=0).state.arrivals
    assert entries_per_day(known) == pytest.approx(4, rel=0.3)
    bought = forecast([(known, 1200.0), (None, 3600.0)])
    assert bought.polls_per_hour == 4
    assert bought.entries_per_day == entries_per_day(known)
    assert bought.delay_sec == pytest.approx(600)
    assert forecast([]) == (0.0, 0.0, 0.0)
    of_a_sample = forecast([(known, 1200.0), (None, 3600.0)], each_for=50)
    assert of_a_sample == (200, 50 * bought.entries_per_day, bought.delay_sec)
