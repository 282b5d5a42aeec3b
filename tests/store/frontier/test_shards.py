"""Each test on one server, and on a cluster of three nodes on which the shards are spread."""

import inspect
from contextlib import suppress
from itertools import count

import pytest

from feedcrawl.domain.frontier.shards import shard_of_host
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.store.frontier.agreement import agree
from feedcrawl.store.frontier.interface import Ending, Frontier, GivenUp
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.frontier.shards import LOOK_SEC, Shards
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import connect
from feedcrawl.store.redis.errors import ServerRefused

START_MS = 1_764_286_185_123
SHARDS = 4
POLICY = FrontierPolicy(host_delay_sec=0)


class Clock:
    """The servers' clock, and the worker's, in a test's hands."""

    ms = START_MS

    def __call__(self) -> int:
        return self.ms

    def seconds(self) -> float:
        return self.ms / 1000

    def forward(self, seconds: float) -> None:
        self.ms += round(seconds * 1000)


class Killed(Exception):
    """A worker that ends here."""


@pytest.fixture(params=["server", "cluster"])
def client(request: pytest.FixtureRequest, tmp_path):
    if request.param == "server":
        yield request.getfixturevalue("redis_client")
        return
    cluster = request.getfixturevalue("redis_cluster")
    cluster.flush()
    with connect(url=cluster.url, data_dir=tmp_path) as connection:
        yield connection.client


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def make(client, clock):
    """A worker's view of the frontier."""
    return lambda: Shards(client, POLICY, shards=SHARDS, clock=clock, now=clock.seconds)


@pytest.fixture
def frontier(make):
    return make()


def host(shard: int, number: int = 0) -> str:
    """A host of a shard."""
    names = (f"site-{each}.example" for each in count(1000 * number))
    return next(name for name in names if shard_of_host(name, SHARDS) == shard)


def article(name="a", at="", **fields):
    at = at or host(0)
    return Task(**{"id": name, "kind": "article", "url": f"https://{at}/{name}", "host": at, **fields})


def all_of(frontier, clock, seconds=0.0):
    """Everything that there is to take."""
    clock.forward(seconds)
    found = []
    while leases := frontier.take(16).leases:
        found += leases
    return found


def take_first(frontier):
    (lease,) = frontier.take(1).leases
    return lease


def hop(lease, to, **fields):
    """What a redirect to another host gives back."""
    return {"reason": "redirected", "patch": {"url": f"https://{to}/{lease.id}", "host": to, **fields}}


def dying_at(step, monkeypatch):
    """A worker that is killed before its n-th step; the steps of all its operations count."""
    steps = count(1)
    run = Shard._run

    def stepped(self, *arguments):
        if next(steps) == step:
            raise Killed
        return run(self, *arguments)

    monkeypatch.setattr(Shard, "_run", stepped)


# --- as one frontier ---


def test_shards_implement_every_method_of_a_frontier():
    own = {name for name, _ in inspect.getmembers(Frontier, inspect.isfunction) if not name.startswith("_")}
    made_of_others = {"enqueue", "done"}
    assert own - made_of_others <= vars(Shards).keys()


def test_every_task_is_in_the_shard_of_its_host_and_comes_once(frontier, client, clock):
    tasks = [article(f"{shard}-{number}", host(shard, number)) for shard in range(SHARDS) for number in range(9)]
    assert frontier.enqueue(tasks) == ["queued"] * len(tasks)
    assert frontier.enqueue(tasks) == ["pending"] * len(tasks)
    for task in tasks:
        assert client.exists(f"fc:{{{task.id[0]}}}:t:{task.id}")
    leases = all_of(frontier, clock)
    assert sorted(lease.id for lease in leases) == sorted(task.id for task in tasks)
    assert {lease.id: lease.shard for lease in leases} == {task.id: int(task.id[0]) for task in tasks}
    assert frontier.counts()["leased"] == len(tasks)
    assert frontier.end([Ending(lease) for lease in leases]) == ["done"] * len(tasks)
    assert {name: number for name, number in frontier.counts().items() if number} == {"fetched:article": len(tasks)}


def test_results_come_in_the_order_of_the_tasks(frontier):
    frontier.enqueue([article("b", host(1))])
    tasks = [article("c", host(2)), article("b", host(1), priority=9), article("a", host(0)), article("d", host(2))]
    assert frontier.enqueue(tasks) == ["queued", "raised", "queued", "queued"]


def test_shards_take_turns_and_are_read_singly(frontier, monkeypatch):
    frontier.enqueue(article(f"{shard}-{n}", host(shard, n)) for shard in range(SHARDS) for n in range(8))
    taken_ids = []
    take = Shard.take
    monkeypatch.setattr(Shard, "take", lambda self, *wanted, **how: taken_ids.append(1) or take(self, *wanted, **how))
    order = [frontier.take(2).leases[0].shard for _ in range(2 * SHARDS)]
    assert sorted(order[:SHARDS]) == sorted(order[SHARDS:]) == list(range(SHARDS))
    assert len(taken_ids) == 2 * SHARDS


def test_a_shard_without_due_tasks_is_not_read_until_the_next_is_due(frontier, clock, monkeypatch):
    frontier.enqueue([article("later", host(1))], delay_sec=0.5)
    taken_ids = []
    take = Shard.take
    monkeypatch.setattr(Shard, "take", lambda self, *wanted, **how: taken_ids.append(1) or take(self, *wanted, **how))
    taken = frontier.take(4)
    assert (taken.leases, taken.wait_sec, len(taken_ids)) == ((), 0.5, SHARDS)
    assert frontier.take(4).leases == ()
    assert len(taken_ids) == SHARDS
    clock.forward(0.5)
    assert frontier.take(4).leases[0].id == "later"
    assert len(taken_ids) == SHARDS + 1


def test_tasks_of_other_workers_are_found_within_a_second(make, clock):
    mine, other = make(), make()
    assert mine.take(1).leases == ()
    other.enqueue([article("a", host(2))])
    assert mine.take(1).leases == ()
    clock.forward(LOOK_SEC)
    assert take_first(mine).id == "a"


def test_a_host_that_was_freed_is_taken_again_at_once(frontier):
    at = host(3)
    frontier.enqueue([article("a", at), article("b", at)])
    lease = take_first(frontier)
    taken = frontier.take(1)
    assert (taken.leases, taken.blocked) == ((), 1)
    assert frontier.release(lease, "ok").wait_sec == 0
    assert take_first(frontier).id == "b"


def test_limits_of_a_host_hold_across_workers(make):
    at = host(2)
    first, second = make(), make()
    first.enqueue([article(name, at) for name in "abc"])
    assert len(first.take(3).leases) == 1
    assert second.take(3).leases == ()


def test_the_task_of_a_dead_worker_comes_again_and_its_old_lease_is_invalid(make, clock):
    dead, alive = make(), make()
    dead.enqueue([article("a", host(1))])
    stale = take_first(dead)
    assert dead.heartbeat([stale]) == set()
    clock.forward(POLICY.lease_sec + 1)
    fresh = take_first(alive)
    assert dead.heartbeat([stale]) == {"a"}
    assert dead.turn(stale) is None
    assert dead.done(stale) == "lost"
    assert dead.give_back(stale, **hop(stale, host(3))) == "lost"
    assert dead.done(stale, status="pending", patch={"host": host(3)}) == "lost"
    assert alive.done(fresh) == "done"


def test_a_task_given_up_in_a_shard_is_reported(frontier, clock):
    frontier.enqueue([article("a", host(1))])
    for _ in range(POLICY.max_attempts):
        all_of(frontier, clock)
        clock.forward(POLICY.lease_sec + 1)
    gone = frontier.take(1).given_up
    assert gone in ((GivenUp("a", "dead", "lease_expired"),), ())  # a task that nobody began may have no attempt


def test_pace_goes_to_the_hosts_shard(frontier, clock):
    frontier.pace(host(2), delay_sec=7)
    frontier.enqueue([article(name, host(2)) for name in "ab"])
    frontier.done(take_first(frontier), signal="ok")
    assert frontier.take(1).leases == ()
    clock.forward(7)
    assert take_first(frontier)


def test_a_task_is_found_in_any_shard(frontier):
    frontier.enqueue([article("a", host(1)), article("b", host(3))])
    assert frontier.find("b")[0].host == host(3)
    assert frontier.find("c") is None
    assert set(frontier.histories(["a", "b", "c"])) == {"a", "b"}
    assert frontier.remove("b")
    assert not frontier.remove("b")
    assert frontier.find("b") is None


def test_dead_letters_come_from_all_shards(frontier, client):
    frontier.enqueue([article(f"{shard}", host(shard)) for shard in range(SHARDS)])
    for _ in range(SHARDS):
        frontier.done(take_first(frontier), status="dead", reason="http_404", dead_letter=True)
    assert frontier.deliver_dead_letters(limit=3) == 3
    assert frontier.deliver_dead_letters() == SHARDS - 3
    assert client.llen(keys.DEAD_LETTERS) == SHARDS
    assert len(set(client.lrange(keys.DEAD_LETTERS, 0, -1))) == SHARDS


# --- from shard to shard ---


def test_a_redirect_to_another_shard_takes_the_task_there(frontier, clock):
    frontier.enqueue([article("a", host(0), category="news", payload={"title": "é"})])
    frontier.enqueue([article("b", host(0))])
    lease = take_first(frontier)
    assert frontier.give_back(lease, **hop(lease, host(1), payload={"redirect_chain": [lease.task.url]})) == "pending"
    there, stayed = sorted(all_of(frontier, clock), key=lambda each: each.id)
    assert (there.id, there.shard, there.task.host) == ("a", 1, host(1))
    assert (there.task.category, there.task.payload) == ("news", {"redirect_chain": [lease.task.url]})
    assert (there.history.last_error, there.history.attempts) == ("redirected", 0)
    assert (stayed.id, stayed.shard) == ("b", 0)  # its host was free again
    assert frontier.done(there) == "done"
    assert frontier.find("a")[1].status == "fetched"
    assert frontier.histories(["a"])["a"].status == "fetched"
    counts = frontier.counts()
    assert (counts["pending:article"], counts["fetched:article"], counts["leased"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("then", "again", "answer", "comes_at"),
    [
        ("pending", "", "known", 1),
        ("pending", "operator", "again", 1),
        ("leased", "operator", "again", 1),
        ("ended", "", "known", None),
        ("ended", "edited", "again", 0),
        ("forgotten", "edited", "queued", 0),
    ],
)
def test_a_url_that_went_to_another_shard_is_not_queued_twice(frontier, client, clock, then, again, answer, comes_at):
    frontier.enqueue([article("a", host(0))])
    lease = take_first(frontier)
    frontier.give_back(lease, **hop(lease, host(1)))
    if then == "leased":
        lease = take_first(frontier)
    elif then != "pending":
        frontier.done(take_first(frontier), patch={"etag": '"1"'})
    if then == "forgotten":
        client.delete("fc:{1}:t:a")
    assert frontier.enqueue([article("a", host(0))], again=again) == [answer]
    if then == "leased":
        frontier.done(lease)
    leases = all_of(frontier, clock)
    assert [each.shard for each in leases] == ([] if comes_at is None else [comes_at])
    if then == "ended" and again:
        assert leases[0].history.etag == '"1"'
    assert frontier.counts()["pending:article"] == len(leases)


def test_a_task_redirected_back_returns_to_its_shard(frontier):
    frontier.enqueue([article("a", host(0))])
    for shard in (1, 0, 2, 0):
        lease = take_first(frontier)
        assert frontier.give_back(lease, **hop(lease, host(shard))) == "pending"
    assert frontier.done(take_first(frontier)) == "done"
    assert frontier.take(1).leases == ()
    assert frontier.counts()["pending:article"] == 0


def test_a_poll_that_ends_at_another_shards_host_goes_home_with_its_commit(frontier, client):
    frontier.enqueue([article("feed:f", host(0), kind="feed")])
    lease = take_first(frontier)
    frontier.give_back(lease, **hop(lease, host(1)))
    lease = take_first(frontier)
    home = {"url": f"https://{host(0)}/feed:f", "host": host(0), "payload": None}
    commit = [["SET", "fc:{0}:polls:f", "polled"], ["LPUSH", "fc:{0}:journal:f", "line"]]
    assert frontier.done(lease, status="pending", reason="unchanged", patch=home, commit=commit) == "rescheduled"
    assert (client.get("fc:{0}:polls:f"), client.lrange("fc:{0}:journal:f", 0, -1)) == ("polled", ["line"])
    lease = take_first(frontier)
    assert (lease.shard, lease.task.host, lease.task.payload) == (0, host(0), {})
    assert (lease.history.fetch_count, lease.history.reason) == (1, "unchanged")
    assert lease.history.last_fetched_at >= START_MS


def test_a_feed_that_moves_permanently_commits_with_its_end_and_is_due_as_scheduled(frontier, client, clock):
    frontier.enqueue([article("feed:f", host(0), kind="feed")])
    moved = {"url": f"https://{host(3)}/feed:f", "host": host(3)}
    commit = [["SET", "fc:{0}:feed:f", "moved"]]
    lease = take_first(frontier)
    assert frontier.done(lease, status="pending", delay_sec=90, patch=moved, commit=commit) == "rescheduled"
    assert client.get("fc:{0}:feed:f") == "moved"
    assert frontier.take(1).wait_sec == 90
    clock.forward(90)
    lease = take_first(frontier)
    assert lease.task.host == host(3)
    # Its record stays where it was: later polls end in two shards.
    commit = [["SET", "fc:{0}:polls:f", "polled"]]
    assert frontier.done(lease, status="pending", delay_sec=9, commit=commit) == "rescheduled"
    assert client.get("fc:{0}:polls:f") == "polled"
    assert frontier.enqueue([article("feed:f", host(3), kind="feed")]) == ["pending"]


def test_when_the_first_lease_of_all_shards_ends(make, clock):
    worker = make()
    assert worker.first_end_sec() is None
    worker.enqueue([article(f"a{number}", host(number)) for number in range(4)])
    for _ in range(4):
        assert take_first(worker)
        clock.forward(5)
    assert worker.first_end_sec() == POLICY.lease_sec - 20


def test_a_worker_that_lost_its_lease_commits_to_no_shard(make, client, clock):
    worker = make()
    worker.enqueue([article("feed:f", host(1), kind="feed")])
    lease = take_first(worker)
    clock.forward(POLICY.lease_sec + 1)
    assert take_first(make())
    assert worker.done(lease, status="pending", commit=[["SET", "fc:{0}:polls:f", "stale"]]) == "lost"
    assert client.get("fc:{0}:polls:f") is None


def test_a_task_enqueued_again_during_a_hop_comes_again(frontier, clock):
    frontier.enqueue([article("a", host(0))])
    lease = take_first(frontier)
    assert frontier.enqueue([article("a", host(0))], again="operator") == ["again"]
    frontier.give_back(lease, **hop(lease, host(1)))
    for _ in range(3):  # once more from its beginning: the two become one where they meet
        for each in all_of(frontier, clock):
            if each.shard == 0:
                frontier.give_back(each, **hop(each, host(1)))
            else:
                frontier.done(each)
    assert all_of(frontier, clock, POLICY.lease_sec + 1) == []
    assert frontier.find("a")[1].status == "fetched"
    assert frontier.counts()["pending:article"] == 0


@pytest.mark.parametrize("step", range(1, 5))
def test_a_kill_between_the_steps_of_a_hop_loses_nothing(make, clock, step):
    first = make()
    first.enqueue([article("a", host(0))])
    lease = take_first(first)
    with pytest.MonkeyPatch.context() as patch, suppress(Killed):
        dying_at(step, patch)
        first.give_back(lease, **hop(lease, host(1)))
    worker, done = make(), 0
    for _ in range(4):
        for each in all_of(worker, clock, POLICY.lease_sec + 1):
            if each.shard == 0:
                worker.give_back(each, **hop(each, host(1)))
            else:
                done += worker.done(each) == "done"
    assert done >= 1
    assert worker.find("a")[1].status == "fetched"
    assert worker.counts()["pending:article"] == worker.counts()["leased"] == 0


@pytest.mark.parametrize("step", range(1, 5))
def test_a_kill_between_the_steps_of_a_move_leaves_a_single_future(make, client, clock, step):
    first = make()
    first.enqueue([article("feed:f", host(0), kind="feed")])
    lease = take_first(first)
    moved = {"url": f"https://{host(3)}/feed:f", "host": host(3)}
    end = {"status": "pending", "patch": moved, "commit": [["SET", "fc:{0}:feed:f", "moved"]]}
    with pytest.MonkeyPatch.context() as patch, suppress(Killed):
        dying_at(step, patch)
        first.done(lease, **end)
    worker = make()
    for _ in range(3):
        for each in all_of(worker, clock, POLICY.lease_sec + 1):
            assert worker.done(each, **end) == "rescheduled"
    assert client.get("fc:{0}:feed:f") == "moved"
    assert [each.task.host for each in all_of(worker, clock)] == [host(3)]
    assert worker.counts()["pending:feed"] == 1


# --- how many there are ---


def test_the_first_use_decides_how_many_shards_there_are(client):
    agree(client, 4)
    agree(client, 4)
    with pytest.raises(ServerRefused, match="set FEEDCRAWL_SHARDS=4") as refused:
        agree(client, 2)
    assert refused.value.code == "shards"


def test_a_server_that_was_used_without_shards_has_a_single_shard(client):
    Shard(client, POLICY).enqueue([article()])
    with pytest.raises(ServerRefused, match="set FEEDCRAWL_SHARDS=1"):
        agree(client, 4)
    agree(client, 1)


def test_shards_are_on_different_nodes(redis_cluster):
    assert len({redis_cluster.node_of(keys.shard(number)).port for number in range(SHARDS)}) == 3
