from typing import Any

import pytest

from feedcrawl.domain.frontier.outage import LONGEST_SEC, TRIAL_SEC, WINDOW_SEC
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.services.frontier.own_network import OwnNetwork


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def network(clock: Clock) -> OwnNetwork:
    return OwnNetwork(clock)


def task(host: Any) -> Task:
    name = str(host) if "." in str(host) else f"{host}.test"
    return Task(f"t-{host}", "article", f"http://{name}/", name)


def fail(network: OwnNetwork, *hosts: Any, reason: str = "connect_timeout") -> list[str | None]:
    return [network.failed(task(host), reason) for host in hosts]


def test_an_outage_begins_with_the_tenth_host_and_ends_below_half(network: OwnNetwork) -> None:
    assert fail(network, *range(10)) == [None] * 9 + ["begun"]
    assert network.is_silent
    assert set(network.failing) == {f"{number}.test" for number in range(10)}
    assert [network.answered(f"{number}.test") for number in range(6)] == [None] * 5 + ["ended"]
    assert network.since is None


def test_a_host_that_fails_often_counts_once(network: OwnNetwork) -> None:
    assert fail(network, *["a"] * 50) == [None] * 50


def test_hosts_that_mostly_respond_are_no_outage(network: OwnNetwork) -> None:
    for number in range(30):
        assert network.answered(f"good-{number}") is None
        if number % 3 == 0:
            assert fail(network, number) == [None]


def test_results_older_than_a_minute_are_forgotten(network: OwnNetwork, clock: Clock) -> None:
    fail(network, *range(9))
    clock.now += WINDOW_SEC + 1
    assert fail(network, "late") == [None]
    assert network.requested == 1


def test_a_single_host_is_tried_from_time_to_time_during_an_outage(network: OwnNetwork, clock: Clock) -> None:
    assert network.wait_sec() == 0
    fail(network, *range(10))
    assert network.wait_sec() == 0
    network.tried()
    assert network.wait_sec() == TRIAL_SEC
    clock.now += 2
    assert network.wait_sec() == TRIAL_SEC - 2
    clock.now += 100 * WINDOW_SEC
    assert fail(network, "next") == [None]
    assert (network.is_silent, network.wait_sec()) == (True, 0)
    assert network.answered("next.test") == "ended"
    assert network.wait_sec() == 0


def test_hosts_that_stay_away_while_others_respond_are_no_evidence_in_the_end(
    network: OwnNetwork, clock: Clock
) -> None:
    fail(network, *range(20))
    for _ in range(int(LONGEST_SEC / 30) + 1):
        clock.now += 30
        changes = [network.answered(f"good-{number}") for number in range(10)] + fail(network, *range(12))
    assert changes.count("ended") == 1
    assert fail(network, *range(11)) == [None] * 11
    assert network.answered("3.test") is None
    assert fail(network, "3") == [None]
    assert "3.test" in network.failing


def test_the_duration_of_an_outage(network: OwnNetwork, clock: Clock) -> None:
    assert network.lasts_sec == 0
    fail(network, *range(10))
    clock.now += 7
    assert network.lasts_sec == 7


def test_three_hosts_suffice_where_all_fail_as_without_a_network(network: OwnNetwork, clock: Clock) -> None:
    assert fail(network, 1, 2, reason="dns") == [None, None]
    assert fail(network, 3, reason="unreachable") == ["begun"]
    assert network.is_silent
    clock.now += 3_600
    assert fail(network, 1, 2, 3, reason="refused") == [None] * 3
    assert network.answered("2.test") == "ended"


def test_three_hosts_are_no_evidence_if_another_responds_or_fails_differently(
    network: OwnNetwork, clock: Clock
) -> None:
    network.answered("good")
    assert fail(network, 1, 2, 3, 4, reason="refused") == [None] * 4
    clock.now += WINDOW_SEC + 1
    assert [*fail(network, 1, 2, reason="refused"), *fail(network, 3)] == [None] * 3
    assert network.since is None


def test_a_host_that_fails_again_after_the_end_is_at_fault_itself(network: OwnNetwork, clock: Clock) -> None:
    assert fail(network, 1, 2, 3, reason="refused")[-1] == "begun"
    assert network.answered("good") == "ended"
    clock.now += WINDOW_SEC + 1
    assert fail(network, 1, 2, 3, reason="refused") == [None] * 3
    assert network.since is None
    network.answered("1.test")
    clock.now += WINDOW_SEC + 1
    assert fail(network, 1, 2, 3, reason="refused") == [None] * 3  # 2 and 3 have not responded since
    assert fail(network, 4, 5, reason="refused") == [None, "begun"]


def test_three_hosts_of_a_domain_are_no_evidence(network: OwnNetwork) -> None:
    assert fail(network, "a.site.test", "b.site.test", "c.site.test", reason="refused") == [None] * 3
    assert fail(network, "other.test", reason="refused") == ["begun"]
