import asyncio
import time
from typing import Any

import pytest
import redis

from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.services.frontier.leases import Leases
from feedcrawl.store.frontier.interface import Frontier
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.redis.errors import StoreUnavailable

LANES = ("poll", "page")


class Shaky:
    """A frontier whose server may be away."""

    def __init__(self, frontier: Frontier) -> None:
        self.frontier = frontier
        self.away = False

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            if self.away:
                raise StoreUnavailable("timeout", "no answer")
            return getattr(self.frontier, name)(*arguments, **named)

        return call


@pytest.fixture
def frontier(redis_client: redis.Redis) -> Frontier:
    return Shard(redis_client, FrontierPolicy(host_delay_sec=0.0))


@pytest.fixture
def shaky(frontier: Frontier) -> Shaky:
    return Shaky(frontier)


@pytest.fixture
def leases(shaky: Shaky) -> Leases:
    return Leases(shaky)


def tasks(count: int) -> list[Task]:
    return [Task(f"t{number}", "page", f"http://h{number}.test/", f"h{number}.test") for number in range(count)]


def state(frontier: Frontier, task_id: str) -> tuple[str, int]:
    found = frontier.find(task_id)
    return ("gone", 0) if found is None else (found[1].status, found[1].attempts)


def test_a_taken_lease_is_held_until_its_end(leases: Leases, frontier: Frontier) -> None:
    leases.enqueue(tasks(3))
    first, second, third = leases.take(16, LANES).leases
    assert all(leases.holds(lease) for lease in (first, second, third))
    assert leases.done(first) == "done"
    assert leases.give_back(second, reason="later", delay_sec=60) == "pending"
    assert list(leases.leased) == [third.id]
    assert [state(frontier, each.id)[0] for each in (first, second, third)] == ["fetched", "pending", "fetching"]


def test_an_old_lease_of_the_same_task_is_not_held(leases: Leases) -> None:
    leases.enqueue(tasks(1))
    (old,) = leases.take(1, LANES).leases
    leases.give_back(old, reason="again")
    (new,) = leases.take(1, LANES).leases
    assert leases.holds(new)
    assert not leases.holds(old)
    leases.give_back_eventually(old, reason="late", counted=True)
    assert leases.done(old) == "lost"
    assert leases.holds(new)


def test_on_change_is_called_when_work_may_be_due(leases: Leases, frontier: Frontier) -> None:
    frontier.pace("h0.test", delay_sec=5)
    waits: list[float] = []
    leases.on_change = waits.append
    leases.enqueue(tasks(1), delay_sec=2)
    leases.enqueue_each([(tasks(1)[0], 0, "operator")])
    assert waits == [2, 0]
    (lease,) = leases.take(1, LANES).leases
    leases.release(lease, "ok")
    assert 4 < waits[2] <= 5
    leases.done(lease)
    assert waits[3:] == [0]


def test_a_lost_lease_is_named_and_forgotten(leases: Leases, frontier: Frontier) -> None:
    leases.enqueue(tasks(2))
    leases.take(2, LANES)
    frontier.remove("t0")
    assert leases.heartbeat() == {"t0"}
    assert list(leases.leased) == ["t1"]
    assert leases.heartbeat() == set()


def test_a_lease_that_was_just_ended_is_not_lost(leases: Leases, frontier: Frontier) -> None:
    leases.enqueue(tasks(1))
    (lease,) = leases.take(1, LANES).leases

    async def end() -> str:
        ending = asyncio.create_task(leases.done_soon(lease, status="fetched", reason="fetched"))
        await asyncio.sleep(0)  # it has begun
        await asyncio.sleep(0)  # it is on its way
        while frontier.counts()["leased"]:  # the store has ended it, and this loop does not know yet
            time.sleep(0.001)
        assert leases.heartbeat() == set()
        return await ending

    assert asyncio.run(end()) == "done"
    assert not leases.leased


def test_a_lease_whose_take_lost_its_reply_is_returned(leases: Leases, frontier: Frontier) -> None:
    leases.enqueue(tasks(2))
    (returned,) = leases.take(1, LANES).leases
    frontier.take(1, lanes=LANES)  # executed, and its reply lost
    assert leases.return_strays() == 1
    assert (state(frontier, "t0")[0], state(frontier, "t1")) == ("fetching", ("pending", 0))
    assert leases.holds(returned)


@pytest.mark.parametrize(("lease_sec", "awaited"), [(60.0, False), (1000.0, True)])
def test_a_lease_that_nobody_has_renewed_is_that_of_a_dead_worker(
    frontier: Frontier, leases: Leases, lease_sec: float, awaited: bool
) -> None:
    assert not Leases(frontier, lease_sec=lease_sec).awaits_the_dead()
    leases.enqueue(tasks(2))
    leases.take(2, LANES)  # for 60 s, of which less than half a lease of 1000 s is left
    assert Leases(frontier, lease_sec=lease_sec).awaits_the_dead() is awaited


def test_leases_without_confirmation_at_closing_count_as_unreturned(leases: Leases, shaky: Shaky) -> None:
    leases.enqueue(tasks(3))
    leases.take(3, LANES)
    shaky.away = True
    assert (leases.give_all_back("closing"), leases.unreturned, leases.leased) == (0, 3, {})


def test_closing_returns_all_without_an_attempt(leases: Leases, frontier: Frontier) -> None:
    leases.enqueue(tasks(3))
    leases.take(3, LANES)
    assert leases.give_all_back("closing") == 3
    assert leases.leased == {}
    assert {state(frontier, f"t{number}") for number in range(3)} == {("pending", 0)}


def test_closing_while_the_store_is_away_ends(leases: Leases, shaky: Shaky) -> None:
    leases.enqueue(tasks(3))
    leases.take(3, LANES)
    shaky.away = True
    assert leases.give_all_back("closing") == 0
    assert leases.leased == {}


def test_unreturned_leases_are_returned_when_the_store_is_back(
    leases: Leases, shaky: Shaky, frontier: Frontier
) -> None:
    leases.enqueue(tasks(2))
    first, second = leases.take(2, LANES).leases
    shaky.away = True
    leases.give_back_eventually(first, reason="store_lost")
    leases.give_back_eventually(second, reason="callback_failed", counted=True)
    leases.give_back_unreturned()
    assert leases.holds(first)
    assert leases.unreturned == 2
    shaky.away = False
    assert leases.heartbeat() == set()
    assert [state(frontier, each.id) for each in (first, second)] == [("pending", 0), ("pending", 1)]
    assert leases.leased == {}
    assert leases.unreturned == 0


def test_unreturned_leases_keep_their_reason_at_closing(leases: Leases, shaky: Shaky, frontier: Frontier) -> None:
    leases.enqueue(tasks(2))
    first, second = leases.take(2, LANES).leases
    shaky.away = True
    leases.give_back_eventually(first, reason="callback_failed", counted=True)
    assert leases.give_all_back("closing") == 0
    assert leases.unreturned == 2, "nobody was told of either"
    shaky.away = False
    leases.leased |= {each.id: each for each in (first, second)}
    assert leases.give_all_back("closing") == 2
    assert leases.unreturned == 0
    assert [state(frontier, each.id) for each in (first, second)] == [("pending", 1), ("pending", 0)]


@pytest.mark.parametrize(
    "call",
    [
        lambda leases, lease: leases.take(1, LANES),
        lambda leases, lease: leases.enqueue(tasks(1)),
        lambda leases, lease: leases.enqueue_each([(tasks(1)[0], 0, "")]),
        lambda leases, lease: leases.turn(lease),
        lambda leases, lease: leases.release(lease, "ok"),
        lambda leases, lease: leases.done(lease),
        lambda leases, lease: leases.give_back(lease, reason="x"),
        lambda leases, lease: leases.redirect(lease, "http://b.test/", ["http://a.test/"], limit=5),
        lambda leases, lease: leases.heartbeat(),
    ],
)
def test_an_unreachable_server_raises_store_unavailable(leases: Leases, shaky: Shaky, call: Any) -> None:
    leases.enqueue(tasks(1))
    (lease,) = leases.take(1, LANES).leases
    shaky.away = True
    with pytest.raises(StoreUnavailable, match="timeout"):
        call(leases, lease)
    assert leases.holds(lease)


def test_a_redirected_task_waits_for_the_other_host(leases: Leases, frontier: Frontier) -> None:
    leases.enqueue([Task("t", "article", "http://a.test/1", "a.test", payload={"feed_id": "f", "tags": []})])
    (lease,) = leases.take(1, LANES).leases
    assert leases.redirect(lease, "http://b.test/2", ["http://a.test/1"], limit=2)
    (lease,) = leases.take(1, LANES).leases
    assert (lease.task.url, lease.task.host, lease.history.attempts) == ("http://b.test/2", "b.test", 0)
    chain = {"redirect_chain": ["http://a.test/1"], "temporary": True}
    assert lease.task.payload == {"feed_id": "f", "tags": [], **chain}
    assert leases.redirect(lease, "http://c.test/3", ["http://b.test/2"], limit=2, permanent=True)
    (lease,) = leases.take(1, LANES).leases
    assert lease.task.payload["temporary"] is True
    assert not leases.redirect(lease, "http://d.test/4", ["http://c.test/3"], limit=2)
    assert leases.holds(lease)


def test_a_worker_that_slept_asks_whether_its_leases_are_still_its_own(shaky: Shaky, frontier: Frontier) -> None:
    brief = Leases(shaky, lease_sec=0.0)  # all of the time that a lease lives has always passed
    brief.enqueue(tasks(2))
    first, lost = brief.take(2, LANES).leases
    frontier.remove(lost.id)
    assert brief.holds(lost)
    assert brief.confirms(first)
    assert not brief.confirms(lost)
    assert list(brief.leased) == [first.id]
    shaky.away = True
    assert not brief.confirms(lost)  # known without a request to the server
    with pytest.raises(StoreUnavailable):
        brief.confirms(first)


def test_a_lease_within_its_time_is_confirmed_without_a_question(leases: Leases, shaky: Shaky) -> None:
    leases.enqueue(tasks(1))
    (lease,) = leases.take(1, LANES).leases
    shaky.away = True
    assert leases.confirms(lease)


def test_failures_of_our_own_outage_are_forgiven_and_polled_again_soon(leases: Leases) -> None:
    feed, page = Task("feed:a", "feed", "http://a.test/", "a.test"), Task("b", "article", "http://b.test/", "b.test")
    leases.enqueue([feed], delay_sec=3600)
    leases.enqueue([page], delay_sec=3600)
    leases.forgive({"a.test": feed, "b.test": page})
    assert 29 < (leases.take(9, LANES).wait_sec or 0) <= 30
    found = leases._frontier.find("feed:a")
    assert found is not None
    assert found[1].again == "own_outage"
    assert leases._frontier.find("b") is not None
