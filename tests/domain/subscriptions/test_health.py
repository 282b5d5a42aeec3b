import json

import pytest

from feedcrawl.domain.cadence.values import DAY_SEC, Candidate
from feedcrawl.domain.subscriptions.health import (
    PART_SEC,
    PARTS,
    Health,
    after,
    counted,
    health_from,
    least_waits,
    uncounted,
)

NOW = 1_795_824_000.0
PROBE = 7 * DAY_SEC


def polled(health: Health, outcomes: str, *, every_sec: float = 900.0, start: float = NOW) -> Health:
    """After polls of which F failed with 503, G with 410, T without an answer, and . went well."""
    statuses = {"F": 503, "G": 410, "T": None, ".": 200}
    for number, each in enumerate(outcomes):
        health = after(health, failed=each != ".", status=statuses[each], now=start + number * every_sec)
    return health


@pytest.mark.parametrize(
    ("outcomes", "opened"),
    [
        ("F.F.F.F.F", 0),  # nine polls are too few
        ("F.F.F.F.FF", 1),
        ("..........F", 0),
        (".F.F.F.F.F", 1),
        (".F.F.F.F.FF", 2),
        (".F.F.F.F.F.", 0),  # a good answer closes it
    ],
)
def test_half_of_ten_polls_open_the_circuit(outcomes: str, opened: int) -> None:
    assert polled(Health(), outcomes).opened == opened


def test_a_success_begins_the_day_anew() -> None:
    assert polled(Health(), ".F.F.F.F.F.").day == ()
    assert polled(Health(), ".F.F.F.F.F.F").opened == 0


def test_polls_older_than_a_day_do_not_count() -> None:
    day = counted(((0, 5, 5), (1, 1, 0), (3, 2, 1)), failed=True, now=4.5 * PART_SEC)
    assert day == ((1, 1, 0), (3, 2, 1), (4, 1, 1))
    assert all(part > 4 - PARTS for part, _, _ in day)


@pytest.mark.parametrize(
    ("outcomes", "every_sec", "retired"),
    [
        ("G", 900, False),
        ("GG", 23 * 3600, False),
        ("GG", 24 * 3600, True),
        ("G.G", 24 * 3600, False),
        ("GFG", 24 * 3600, False),  # another answer in between
        ("GTG", 12 * 3600, True),  # no answer says nothing
        ("GGG", 24 * 3600, True),
        ("GGF", 24 * 3600, False),
    ],
)
def test_gone_twice_a_day_apart_retires(outcomes: str, every_sec: float, *, retired: bool) -> None:
    assert polled(Health(), outcomes, every_sec=every_sec).retired is retired


@pytest.mark.parametrize(
    ("health", "status", "errors", "waits"),
    [
        (Health(), 404, 1, ()),
        (Health(), None, 1, ()),
        (Health(opened=1), 500, 1, (Candidate("error-budget", 3600.0),)),
        (Health(opened=3), 500, 3, (Candidate("error-budget", 14_400.0),)),
        (Health(opened=99), 500, 99, (Candidate("error-budget", DAY_SEC),)),
        (Health(retired=True), 410, 2, (Candidate("gone", PROBE),)),
        (Health(), 401, 1, (Candidate("refused", 4 * 3600.0),)),
        (Health(), 403, 2, (Candidate("refused", 8 * 3600.0),)),
        (Health(), 451, 99, (Candidate("refused", DAY_SEC),)),
    ],
)
def test_least_waits_of_an_unhealthy_feed(
    health: Health, status: int | None, errors: int, waits: tuple[Candidate, ...]
) -> None:
    assert least_waits(health, status=status, errors=errors, probe_sec=PROBE) == waits


def test_health_survives_as_json_and_is_empty_without_failures() -> None:
    health = polled(Health(), "..FGG", every_sec=DAY_SEC)
    assert health_from(json.loads(json.dumps(health.to_record()))) == health
    assert polled(Health(), "....").to_record() is None
    assert health_from(None) == Health()


def test_a_failure_of_our_own_network_is_taken_back() -> None:
    failed = polled(Health(), ".T")
    assert uncounted(failed) == polled(Health(), ".")
    assert uncounted(polled(Health(), "..")) == polled(Health(), "..")
    assert uncounted(Health()) == Health()
