from typing import Any

import pytest

from feedcrawl.domain.frontier.outage import LONGEST_SEC, LOOK_SEC, WINDOW_SEC
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.services.frontier.own_network import Way


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def way(clock: Clock) -> Way:
    return Way(clock)


def task(host: Any) -> Task:
    return Task(f"t-{host}", "article", f"http://{host}/", str(host))


def fail(way: Way, *hosts: Any) -> list[str | None]:
    return [way.failed(task(host)) for host in hosts]


def test_it_begins_with_the_tenth_host_and_ends_with_an_answer_when_fewer_than_half_fail(way: Way) -> None:
    assert fail(way, *range(10)) == [None] * 9 + ["begun"]
    assert way.is_silent
    assert set(way.failing) == {str(number) for number in range(10)}
    assert [way.answered(str(number)) for number in range(6)] == [None] * 5 + ["ended"]
    assert way.since is None


def test_one_host_that_fails_often_is_one_host(way: Way) -> None:
    assert fail(way, *["a"] * 50) == [None] * 50


def test_hosts_that_answer_well_enough_are_no_outage(way: Way) -> None:
    for number in range(30):
        assert way.answered(f"good-{number}") is None
        if number % 3 == 0:
            assert fail(way, number) == [None]


def test_what_was_more_than_a_minute_ago_is_forgotten(way: Way, clock: Clock) -> None:
    fail(way, *range(9))
    clock.now += WINDOW_SEC + 1
    assert fail(way, "late") == [None]
    assert way.asked == 1


def test_while_nobody_answers_one_host_is_asked_from_time_to_time(way: Way, clock: Clock) -> None:
    assert way.wait_sec() == 0
    fail(way, *range(10))
    assert way.wait_sec() == 0
    way.tried()
    assert way.wait_sec() == LOOK_SEC
    clock.now += 2
    assert way.wait_sec() == LOOK_SEC - 2
    clock.now += 100 * WINDOW_SEC
    assert fail(way, "next") == [None]
    assert (way.is_silent, way.wait_sec()) == (True, 0)
    assert way.answered("next") == "ended"
    assert way.wait_sec() == 0


def test_hosts_that_are_away_while_others_answer_are_no_evidence_in_the_end(way: Way, clock: Clock) -> None:
    fail(way, *range(20))
    for _ in range(int(LONGEST_SEC / 30) + 1):
        clock.now += 30
        changes = [way.answered(f"good-{number}") for number in range(10)] + fail(way, *range(12))
    assert changes.count("ended") == 1
    assert fail(way, *range(11)) == [None] * 11
    assert way.answered("3") is None
    assert fail(way, "3") == [None]
    assert "3" in way.failing


def test_how_long_it_lasts(way: Way, clock: Clock) -> None:
    assert way.lasts_sec == 0
    fail(way, *range(10))
    clock.now += 7
    assert way.lasts_sec == 7
