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
    name = str(host) if "." in str(host) else f"{host}.test"
    return Task(f"t-{host}", "article", f"http://{name}/", name)


def fail(way: Way, *hosts: Any, reason: str = "connect_timeout") -> list[str | None]:
    return [way.failed(task(host), reason) for host in hosts]


def test_it_begins_with_the_tenth_host_and_ends_with_an_answer_when_fewer_than_half_fail(way: Way) -> None:
    assert fail(way, *range(10)) == [None] * 9 + ["begun"]
    assert way.is_silent
    assert set(way.failing) == {f"{number}.test" for number in range(10)}
    assert [way.answered(f"{number}.test") for number in range(6)] == [None] * 5 + ["ended"]
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
    assert way.answered("next.test") == "ended"
    assert way.wait_sec() == 0


def test_hosts_that_are_away_while_others_answer_are_no_evidence_in_the_end(way: Way, clock: Clock) -> None:
    fail(way, *range(20))
    for _ in range(int(LONGEST_SEC / 30) + 1):
        clock.now += 30
        changes = [way.answered(f"good-{number}") for number in range(10)] + fail(way, *range(12))
    assert changes.count("ended") == 1
    assert fail(way, *range(11)) == [None] * 11
    assert way.answered("3.test") is None
    assert fail(way, "3") == [None]
    assert "3.test" in way.failing


def test_how_long_it_lasts(way: Way, clock: Clock) -> None:
    assert way.lasts_sec == 0
    fail(way, *range(10))
    clock.now += 7
    assert way.lasts_sec == 7


def test_three_hosts_suffice_where_all_fail_as_without_a_network(way: Way, clock: Clock) -> None:
    assert fail(way, 1, 2, reason="dns") == [None, None]
    assert fail(way, 3, reason="unreachable") == ["begun"]
    assert way.is_silent
    clock.now += 3_600
    assert fail(way, 1, 2, 3, reason="refused") == [None] * 3
    assert way.answered("2.test") == "ended"


def test_three_hosts_are_no_evidence_if_another_answers_or_one_fails_in_another_way(way: Way, clock: Clock) -> None:
    way.answered("good")
    assert fail(way, 1, 2, 3, 4, reason="refused") == [None] * 4
    clock.now += WINDOW_SEC + 1
    assert [*fail(way, 1, 2, reason="refused"), *fail(way, 3)] == [None] * 3
    assert way.since is None


def test_a_host_that_fails_again_after_the_end_is_at_fault_itself(way: Way, clock: Clock) -> None:
    assert fail(way, 1, 2, 3, reason="refused")[-1] == "begun"
    assert way.answered("good") == "ended"
    clock.now += WINDOW_SEC + 1
    assert fail(way, 1, 2, 3, reason="refused") == [None] * 3
    assert way.since is None
    way.answered("1.test")
    clock.now += WINDOW_SEC + 1
    assert fail(way, 1, 2, 3, reason="refused") == [None] * 3  # 2 and 3 have not responded since
    assert fail(way, 4, 5, reason="refused") == [None, "begun"]


def test_three_hosts_of_one_domain_are_no_evidence(way: Way) -> None:
    assert fail(way, "a.site.test", "b.site.test", "c.site.test", reason="refused") == [None] * 3
    assert fail(way, "other.test", reason="refused") == ["begun"]
