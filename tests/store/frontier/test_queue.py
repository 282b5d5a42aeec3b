import json
import re
from dataclasses import replace

import pytest

from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.store.frontier.interface import GivenUp, Released, ScopeChange
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy, ScopePace
from feedcrawl.store.redis import keys

START_MS = 1_764_286_185_123
HOUR = 3600.0
DAY = 24 * HOUR
POLICY = FrontierPolicy()


class Clock:
    """The server's clock in a test's hands."""

    def __init__(self):
        self.ms = START_MS

    def __call__(self):
        return self.ms

    def forward(self, seconds):
        self.ms += round(seconds * 1000)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def make(redis_client, clock):
    """A worker's view of the one frontier."""

    def build(**policy):
        return Shard(redis_client, replace(POLICY, **policy), clock=clock)

    return build


@pytest.fixture
def frontier(make):
    return make()


def article(name="a", host="one.example", **fields):
    return Task(**{"id": name, "kind": "article", "url": f"https://{host}/{name}", "host": host, **fields})


def feed(name="feed:f", host="one.example", **fields):
    return article(name, host, **{"kind": "feed", **fields})


def take_first(frontier, **options):
    (lease,) = frontier.take(1, **options).leases
    return lease


def test_tasks_of_a_burst_are_taken_in_their_order(frontier, clock):
    names = [f"{number * 7919 % 1000:03}" for number in range(200)]  # in no order of their names
    frontier.enqueue(article(name) for name in names[:150])
    frontier.enqueue(article(name) for name in names[150:])  # in the same millisecond
    frontier.enqueue([article("urgent", priority=9)])
    taken = []
    for _ in range(201):
        lease = take_first(frontier)
        taken.append(lease.id)
        frontier.done(lease)
        clock.forward(1)
    assert taken == ["urgent", *names]


def ids(taken):
    return [lease.id for lease in taken.leases]


def drain(frontier, clock, step=1.0, limit=50):
    """The order in which tasks come, each ended before the next is taken."""
    order = []
    for _ in range(limit):
        for lease in frontier.take(1).leases:
            order.append(lease.id)
            frontier.done(lease)
        clock.forward(step)
    return order


# --- push ---


@pytest.mark.parametrize(
    ("before", "pushed", "again", "expected"),
    [
        ("nothing", 5, "", "queued"),
        ("nothing", 5, "operator", "queued"),
        ("pending", 5, "", "pending"),
        ("pending", 4, "", "pending"),
        ("pending", 6, "", "raised"),
        ("pending", 5, "retry", "again"),
        ("delayed", 5, "", "pending"),
        ("delayed", 6, "", "raised"),
        ("delayed", 4, "replay", "again"),
        ("leased", 5, "", "leased"),
        ("leased", 9, "", "leased"),
        ("leased", 5, "operator", "again"),
        ("fetched", 9, "", "known"),
        ("dead", 9, "", "known"),
        ("fetched", 5, "edited", "again"),
        ("dead", 5, "queue_again", "again"),
    ],
)
def test_the_result_of_enqueue_depends_on_the_state_of_the_task(frontier, before, pushed, again, expected):
    if before != "nothing":
        frontier.enqueue([article()], delay_sec=60 if before == "delayed" else 0)
    if before in ("leased", "fetched", "dead"):
        lease = take_first(frontier)
        if before != "leased":
            frontier.done(lease, status=before)
    assert frontier.enqueue([article(priority=pushed)], again=again) == [expected]
    assert frontier.counts().get("pending:article") == (
        None if expected == "nothing" else 0 if expected == "known" else 1
    )


def test_results_of_a_long_batch_are_in_the_order_of_its_tasks(frontier):
    tasks = [article(f"a{number % 150}") for number in range(200)]
    assert frontier.enqueue(tasks) == ["queued"] * 150 + ["pending"] * 50


def test_each_task_has_its_own_delay_and_reason(frontier, clock):
    frontier.enqueue([article("old")])
    frontier.done(take_first(frontier))
    answers = frontier.enqueue_each([(article("x"), 5.0, ""), (article("old"), 0, "edited"), (article("old"), 0, "")])
    assert answers == ["queued", "again", "pending"]
    clock.forward(1)
    assert ids(frontier.take(5)) == ["old"]


def test_a_task_enqueued_again_keeps_its_validators_and_names_the_cause(frontier, clock):
    frontier.enqueue([article()])
    patch = {"etag": 'W/"é"', "last_modified": "Fri, 27 Nov 2026 08:15:00 GMT", "content_hash": "c"}
    frontier.done(take_first(frontier), patch=patch)
    clock.forward(10)
    frontier.enqueue([article(payload={"list": [], "object": {}})], again="edited")
    lease = take_first(frontier)
    assert lease.task.payload == {"list": [], "object": {}}
    history = lease.history
    assert (history.etag, history.last_modified, history.content_hash) == tuple(patch.values())
    assert (history.again, history.fetch_count, history.status, history.discovered_at) == (
        "edited",
        1,
        "pending",
        START_MS,
    )
    frontier.done(lease)
    assert frontier.find("a")[1].again is None


def test_an_ended_url_is_forgotten_after_thirty_days(frontier, redis_client):
    frontier.enqueue([article()])
    frontier.done(take_first(frontier))
    assert 29.9 * DAY < redis_client.ttl("fc:{0}:t:a") <= 30 * DAY
    frontier.enqueue([article()], again="retry")
    assert redis_client.ttl("fc:{0}:t:a") == -1


def test_a_pending_task_enqueued_again_is_due_at_once(frontier):
    frontier.enqueue([feed()], delay_sec=DAY)
    assert frontier.take(1).leases == ()
    frontier.enqueue([feed(payload={"now": True})], again="operator")
    assert take_first(frontier).task.payload == {"now": True}


def test_again_while_leased_comes_at_once_after_done_with_its_own_payload(frontier, clock):
    frontier.enqueue([feed(payload={"n": 1})])
    lease = take_first(frontier)
    frontier.enqueue([feed(payload={"n": 2})], again="operator")
    assert frontier.done(lease, status="pending", delay_sec=DAY) == "rescheduled"
    clock.forward(1)
    lease = take_first(frontier)
    assert (lease.task.payload, lease.history.again) == ({"n": 2}, "operator")
    assert frontier.done(lease, status="pending", delay_sec=DAY) == "rescheduled"
    clock.forward(1)
    assert frontier.take(1).leases == ()


@pytest.mark.parametrize("end", ["done", "give_back", "expire"])
def test_a_task_enqueued_again_while_leased_comes_exactly_once_more(frontier, clock, end):
    frontier.enqueue([article()])
    lease = take_first(frontier)
    frontier.enqueue([article()], again="edited")
    if end == "done":
        assert frontier.done(lease) == "rescheduled"
    elif end == "give_back":
        assert frontier.give_back(lease, reason="http_500", counted=True) == "pending"
    clock.forward(60)
    lease = (frontier.take(1).leases or clock.forward(1) or frontier.take(1).leases)[0]
    assert (lease.history.again, lease.history.attempts) == ("edited", 0)
    assert frontier.done(lease) == "done"
    assert frontier.counts() == {"pending:article": 0, "fetched:article": 1, "leased": 0}


def test_a_last_attempt_does_not_end_a_task_that_was_enqueued_again(make, clock):
    frontier = make(max_attempts=1)
    frontier.enqueue([article()])
    lease = take_first(frontier)
    frontier.enqueue([article()], again="operator")
    assert frontier.give_back(lease, reason="http_500", counted=True) == "pending"
    clock.forward(1)
    assert frontier.give_back(take_first(frontier), reason="http_500", counted=True) == "dead"


@pytest.mark.parametrize(
    "value",
    ["", "é 漢字 🎈", 'quote " backslash \\ slash /', "\x00\x1f\x7f", "]]> \\u0000 \\ud800"],
    ids=["empty", "beyond ascii", "quoted", "controls", "escapes"],
)
def test_a_record_keeps_any_text(frontier, value):
    task = article(url=f"https://one.example/{value}", source=value or None, payload={"v": value, "list": [value]})
    frontier.enqueue([task])
    assert take_first(frontier).task == task


def test_a_lone_surrogate_is_replaced(frontier):
    frontier.enqueue([article(payload={"title": "a\ud800b"})])
    lease = take_first(frontier)
    assert lease.task.payload == {"title": "a?b"}
    assert frontier.give_back(lease, reason="x", patch={"last_error": "y\ud800"}) == "pending"


@pytest.mark.parametrize("host", ["", "a b", "5 x", "::1", "xn--bcher-kva.example", "ho\nst"])
def test_names_of_hosts_and_tasks_are_not_confused_in_the_delayed_set(frontier, clock, host):
    frontier.enqueue([article("an id 7", host), article("7", host)], delay_sec=5)
    clock.forward(5)
    assert drain(frontier, clock) == ["7", "an id 7"]


# --- order ---


@pytest.mark.parametrize(
    ("pushes", "expected"),
    [
        # (name, host, priority, seconds after the first)
        ([("a", "h1", 5, 0), ("b", "h2", 5, 1)], ["a", "b"]),
        ([("a", "h1", 5, 0), ("b", "h2", 6, 1)], ["b", "a"]),
        ([("a", "h1", 5, 0), ("b", "h2", 6, HOUR - 1)], ["b", "a"]),
        ([("a", "h1", 5, 0), ("b", "h2", 6, HOUR + 1)], ["a", "b"]),
        ([("a", "h1", 1, 0), ("b", "h2", 10, 9 * HOUR + 1)], ["a", "b"]),
        ([("a", "h1", 5, 0), ("b", "h1", 9, 1)], ["b", "a"]),
        ([("a", "h1", 5, 0), ("b", "h1", 5, 1), ("c", "h2", 5, 2)], ["a", "c", "b"]),
    ],
    ids=["first come", "priority", "almost an hour", "an hour is a step", "nine hours", "in one host", "hosts in turn"],
)
def test_the_order_of_takes(frontier, clock, pushes, expected):
    for name, host, priority, after in pushes:
        clock.ms = START_MS + round(1000 * after)
        frontier.enqueue([article(name, host, priority=priority)])
    assert drain(frontier, clock, step=0.4, limit=8) == expected


def test_waiting_for_its_time_earns_no_rank_and_waiting_for_a_worker_does(frontier, clock):
    frontier.enqueue([article("delayed", "h1")], delay_sec=HOUR)
    clock.forward(1800)
    frontier.enqueue([article("early", "h2")])
    clock.forward(1801)
    frontier.enqueue([article("late", "h3")])
    assert ids(frontier.take(3)) == ["early", "delayed", "late"]


@pytest.mark.parametrize("delay", [0, 2])
def test_raised_priority_keeps_its_place_in_time(frontier, clock, delay):
    frontier.enqueue([article("a", "h1", priority=5)], delay_sec=delay)
    frontier.enqueue([article("b", "h2", priority=5)])
    clock.forward(2 * HOUR)
    frontier.enqueue([article("c", "h3", priority=8)])
    frontier.enqueue([article("a", "h1", priority=7)])
    assert ids(frontier.take(3)) == ["a", "c", "b"]
    assert frontier.find("a")[0].priority == 7


def test_polls_go_before_articles_unless_these_have_waited_long(frontier, clock):
    frontier.enqueue([article("old", "h1", priority=10)])
    clock.forward(13 * HOUR + 1)
    frontier.enqueue([article("new", "h2", priority=10), feed("feed:f", "h3", priority=1)])
    assert ids(frontier.take(3)) == ["old", "feed:f", "new"]


def test_lanes(frontier):
    kinds = ("feed", "sitemap", "archive", "websub", "article", "page")
    frontier.enqueue([article(kind, f"{kind}.example", kind=kind) for kind in kinds])
    assert sorted(ids(frontier.take(9, lanes=["page"]))) == ["archive", "article", "page"]
    assert sorted(ids(frontier.take(9, lanes=["poll"]))) == ["feed", "sitemap", "websub"]


def test_media_files_are_taken_only_from_their_lane(frontier):
    frontier.enqueue(
        [article("file:1", kind="file"), article("file:2", "h2", kind="file"), article("page", kind="page")]
    )
    assert ids(frontier.take(9)) == ["page"]
    assert ids(frontier.take(9, lanes=["poll", "page", "file"])) == ["file:2"]  # the other's host is busy
    assert frontier.counts()["pending:file"] == 2


def test_the_pages_of_a_spider_are_its_own(frontier, clock):
    frontier.enqueue(
        [article(f"{of}{n}", kind="page", payload={"spider": of}) for of in ("mine", "theirs") for n in (1, 2)]
    )
    frontier.enqueue([article("x")], delay_sec=5)
    assert frontier.take(9).leases == ()
    lease = take_first(frontier, lanes=["page", "page:mine"])
    assert lease.id == "mine1"
    assert frontier.give_back(lease, reason="x", delay_sec=2) == "pending"
    assert frontier.take(9, lanes=["page:theirs"]).wait_sec == 1
    clock.forward(2)
    frontier.enqueue([article("mine1", kind="page", priority=9, payload={"spider": "mine"})])
    assert ids(frontier.take(9, lanes=["page:theirs"])) == ["theirs1"]
    clock.forward(60)
    assert frontier.take(9, lanes=["page:theirs"]).wait_sec == 1  # the lease ran out
    clock.forward(1)
    assert ids(frontier.take(9, lanes=["page:mine"])) == ["mine1"]
    assert frontier.remove("mine2")
    assert frontier.counts() == {"pending:page": 3, "pending:article": 1, "leased": 1}


def test_a_host_that_waits_delays_no_other(frontier):
    frontier.enqueue([article(f"a{n}", "big.example", priority=10) for n in range(50)])
    frontier.enqueue([article("b", "small.example", priority=1)])
    taken = frontier.take(9)
    assert (len(taken.leases), taken.leases[1].id, taken.blocked) == (2, "b", 1)


# --- pace ---


def test_the_delay_begins_at_the_end_of_the_response(frontier, clock):
    frontier.enqueue([article("a"), article("b")])
    lease = take_first(frontier)
    clock.forward(5)
    assert frontier.take(1).leases == ()
    assert frontier.release(lease, "ok") == Released("closed", "closed", 1.0)
    assert frontier.take(1).wait_sec == 1.0
    clock.forward(0.999)
    assert frontier.take(1).leases == ()
    clock.forward(0.001)
    assert ids(frontier.take(1)) == ["b"]


def test_take_returns_the_wait_until_the_next_task(frontier, clock):
    assert frontier.take(1).wait_sec is None
    frontier.enqueue([article("a"), article("b")])
    frontier.enqueue([article("c", "two.example")], delay_sec=30)
    taken = frontier.take(1)
    assert (ids(taken), taken.wait_sec, taken.blocked) == (["a"], 30.0, 1)
    frontier.release(taken.leases[0], "ok")
    taken = frontier.take(1)
    assert (taken.wait_sec, taken.blocked) == (1.0, 0)
    clock.forward(1)
    assert frontier.take(0).wait_sec == 0


def test_concurrency(make, clock):
    frontier = make(host_concurrency=3, host_delay_sec=0)
    frontier.enqueue([article(f"a{n}") for n in range(9)])
    first = frontier.take(9)
    assert len(first.leases) == 3
    frontier.release(first.leases[0], "ok")
    assert len(frontier.take(9).leases) == 1
    frontier.done(first.leases[0])  # its slot was freed before
    assert frontier.take(9).leases == ()
    frontier.done(first.leases[1])
    frontier.give_back(first.leases[2], reason="closing")
    assert len(frontier.take(9).leases) == 2


def test_with_several_connections_starts_keep_their_distance(make, clock):
    frontier = make(host_concurrency=2, host_delay_sec=10)
    frontier.enqueue([article(f"a{n}") for n in range(3)])
    lease = take_first(frontier)
    assert frontier.take(1).wait_sec == 10
    clock.forward(10)
    take_first(frontier)
    frontier.release(lease, "ok")
    assert frontier.take(1).wait_sec == 10


def test_a_host_has_a_pace_of_its_own(frontier, clock):
    frontier.enqueue([article(f"a{n}") for n in range(4)])
    frontier.pace("one.example", delay_sec=20, concurrency=2)
    take_first(frontier)
    assert frontier.take(1).wait_sec == 20
    frontier.pace("one.example", delay_sec=0)
    clock.forward(20)
    assert len(frontier.take(9).leases) == 1
    frontier.pace("one.example", concurrency=3)
    assert len(frontier.take(9).leases) == 1


@pytest.mark.parametrize(("concurrency", "expected"), [(1, [1, 2, 3]), (2, [0, 1, 2])])
def test_turns_under_a_lease_move_the_host_for_everyone(make, clock, concurrency, expected):
    frontier = make(host_concurrency=concurrency)
    frontier.enqueue([article("a"), article("b")])
    lease = take_first(frontier)
    clock.forward(1)
    assert [frontier.turn(lease) for _ in range(3)] == expected
    frontier.release(lease, "ok")
    assert frontier.take(1).wait_sec == expected[-1] + 1


def test_a_turn_is_not_lost_to_a_host_that_stood_ready(make, clock):
    frontier = make(host_concurrency=2)
    frontier.enqueue([article("a"), article("b")])
    lease = take_first(frontier)
    clock.forward(1)
    frontier.enqueue([article("c")])  # settles the host: its time has come
    assert frontier.turn(lease) == 0
    assert frontier.take(1).leases == ()


def test_a_429_pauses_its_host_and_slows_it(frontier, clock):
    frontier.enqueue([article("a"), article("b")])
    assert frontier.release(take_first(frontier), "throttled", wait_sec=90).wait_sec == 90
    clock.forward(90)
    assert frontier.release(take_first(frontier), "ok").wait_sec == 2  # 1 s, doubled


def test_a_circuit_opens_and_its_first_lease_is_a_probe(frontier, clock):
    frontier.enqueue([article(f"a{n}") for n in range(9)])
    for _ in range(4):
        assert frontier.release(take_first(frontier), "site").after == "closed"
        clock.forward(1)
    assert frontier.circuits() == []
    assert frontier.release(take_first(frontier), "site") == Released("closed", "open", 30)
    [host] = frontier.circuits()
    assert (host.circuit, host.failures, host.wait_sec) == ("open", 5, 30)
    clock.forward(30)
    probe = take_first(frontier)
    assert probe.probe
    assert [host.circuit for host in frontier.circuits()] == ["half_open"]
    assert frontier.release(probe, "site") == Released("half_open", "open", 60)
    clock.forward(60)
    probe = take_first(frontier)
    assert frontier.release(probe, "ok") == Released("half_open", "closed", 1)
    assert frontier.circuits() == []
    clock.forward(1)
    assert not take_first(frontier).probe


def test_a_half_open_host_gets_a_single_probe_whatever_its_concurrency(make, clock):
    frontier = make(host_concurrency=4, host_delay_sec=0, circuit_failures=1)
    frontier.enqueue([article(f"a{n}") for n in range(9)])
    for lease in frontier.take(4).leases:
        frontier.release(lease, "site")
    clock.forward(30)
    taken = frontier.take(9)
    assert (len(taken.leases), taken.leases[0].probe, taken.blocked) == (1, True, 1)


def test_a_probe_that_never_came_back_is_followed_by_another(make, clock):
    frontier = make(circuit_failures=1, lease_sec=60)
    frontier.enqueue([article("a"), article("b"), article("c")])
    frontier.release(take_first(frontier), "site")
    clock.forward(30)
    assert take_first(frontier).probe
    clock.forward(61)
    taken = frontier.take(1)
    clock.forward(1)
    assert (taken.leases or frontier.take(1).leases)[0].probe


# --- registered domains ---


def test_hosts_of_a_domain_keep_its_pace_and_delay_no_other_domain(frontier, clock):
    frontier.enqueue([feed(f"f{n:03}", f"h{n:03}.big.example", priority=10) for n in range(205)])
    frontier.enqueue([feed("small", "www.small.example", priority=1)])
    taken_ids = []
    while (taken := frontier.take(16)).wait_sec == 0:  # those that wait are set apart some at a time
        taken_ids += ids(taken)
    assert (taken_ids + ids(taken), taken.wait_sec) == (["f000", "small"], 0.25)
    taken_ids = ["f000"]
    while len(taken_ids) < 205:
        clock.forward(0.25)
        (lease,) = frontier.take(16).leases
        taken_ids.append(lease.id)
        frontier.done(lease, signal="ok")
    assert taken_ids == [f"f{n:03}" for n in range(205)]
    assert clock.ms - START_MS == 204 * 250


def test_a_domain_has_as_many_open_requests_as_four_of_its_hosts(make, clock):
    frontier = make(host_delay_sec=0)
    frontier.enqueue([article(f"a{n}", f"h{n}.big.example") for n in range(9)])
    taken = frontier.take(16)
    assert (len(taken.leases), taken.wait_sec, taken.blocked) == (4, None, 1)
    frontier.release(taken.leases[2], "ok")
    assert ids(frontier.take(16)) == ["a4"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "co.uk"])
def test_hosts_without_a_registered_domain_share_no_pace(make, host):
    frontier = make(scopes={"domain": ScopePace(100, 1)})
    frontier.enqueue(
        [article("a", host), article("b", "127.0.0.2"), article("c", "x.github.io"), article("d", "y.github.io")]
    )
    assert sorted(ids(frontier.take(9))) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(("policy", "wait"), [({}, 0.0), ({"scopes": {"domain": ScopePace(0.25)}}, 0.25)])
def test_a_domain_without_settings_slows_none_of_its_hosts(make, policy, wait):
    frontier = make(host_concurrency=3, **policy)
    frontier.enqueue([article(f"a{n}") for n in range(3)])
    frontier.pace("one.example", delay_sec=0)
    assert (len(frontier.take(1).leases), frontier.take(0).wait_sec) == (1, wait)


def test_a_domain_has_a_pace_of_its_own(frontier, clock):
    frontier.enqueue([article(f"a{n}", f"h{n}.big.example") for n in range(3)])
    frontier.pace_scope("domain", "big.example", delay_sec=20, concurrency=1)
    lease = take_first(frontier)
    clock.forward(50)
    assert frontier.take(1).blocked == 1
    frontier.release(lease, "ok")
    assert frontier.take(1).wait_sec == 20
    its = frontier.host("h1.big.example").scopes["domain"]
    assert (its.delay_sec, its.concurrency, its.wait_sec, its.waits_for) == (20, 1, 20, "pace")


def test_a_million_subdomains_delay_no_other_domain(make, clock):
    frontier = make()
    frontier.enqueue([article(f"t{n}", f"h{n}.trap.example", priority=10) for n in range(3000)])
    frontier.enqueue([article(f"a{n}", f"site-{n}.example", priority=1) for n in range(64)])
    got, calls = [], 0
    while len([name for name in got if name[0] == "a"]) < 64:
        got += ids(frontier.take(16))
        calls += 1
    assert len(got) == 65
    assert calls < 3000 / 64 + 10  # each of the trap's hosts is met once, and then stands with its domain


def test_hosts_that_wait_for_their_domain_are_not_examined_again(make, clock, redis_client):
    frontier = make()
    frontier.enqueue([article(f"t{n}", f"h{n}.trap.example") for n in range(500)])
    for _ in range(20):
        frontier.take(16)
    redis_client.config_resetstat()
    for _ in range(10):
        assert frontier.take(16).leases == ()
    stats = redis_client.info("commandstats")
    assert (
        sum(each["calls"] for name, each in stats.items() if "config" not in name and "info" not in name) <= 10 * 15
    )  # as many as where nothing waits


def test_a_task_that_comes_back_later_still_waits_for_its_domain(frontier, clock):
    frontier.enqueue([article(f"a{n}", f"h{n}.big.example") for n in range(3)], delay_sec=5)
    clock.forward(5)
    lease = take_first(frontier)
    assert frontier.take(9).leases == ()
    frontier.give_back(lease, reason="redirected", patch={"url": "https://new.big.example/", "host": "new.big.example"})
    clock.forward(0.25)
    assert ids(frontier.take(9)) == ["a1"]
    clock.forward(0.25)
    assert ids(frontier.take(9)) == ["a2"]
    clock.forward(0.25)
    assert ids(frontier.take(9)) == ["a0"]


def test_retry_after_of_a_host_does_not_pause_other_hosts_of_its_domain(frontier, clock):
    frontier.enqueue([article(f"{host}{n}", f"{host}.big.example") for host in "ab" for n in range(3)])
    assert frontier.release(take_first(frontier), "throttled", wait_sec=90).wait_sec == 90
    clock.forward(1)
    lease = take_first(frontier)
    assert lease.id == "b0"
    frontier.release(lease, "ok")
    clock.forward(89)
    again = {
        lease.id: frontier.release(lease, "ok")
        for _ in range(2)
        if (lease := take_first(frontier)) and not clock.forward(1)
    }
    assert sorted(again) == ["a1", "b1"]
    assert (again["a1"].wait_sec, again["b1"].wait_sec) == (2, 1)  # 429 doubled one host's delay


def fail(frontier, clock, hosts):
    """Each host fails once as a site; the result of the last release."""
    for host in hosts:
        frontier.enqueue([article(f"{host}-{clock.ms}", host, priority=10)])
        released = frontier.release(take_first(frontier), "site")
        clock.forward(1)
    return released


def test_three_failing_hosts_open_the_circuit_of_their_domain_and_one_success_closes(frontier, clock):
    frontier.enqueue([article(f"x{n}", f"h{n}.big.example") for n in range(9)], delay_sec=10)
    released = fail(frontier, clock, [f"{name}.big.example" for name in "abc"])
    assert released == Released("closed", "closed", 1.0, (ScopeChange("domain", "big.example", "closed", "open"),))
    clock.forward(10)
    taken = frontier.take(9)
    assert (taken.leases, taken.wait_sec) == ((), 19)
    assert frontier.host("h0.big.example").waits_for == "domain_circuit_open"
    clock.forward(19)
    taken = frontier.take(9)
    assert ([lease.probe for lease in taken.leases], taken.blocked) == ([True], 1)
    change = ScopeChange("domain", "big.example", "half_open", "closed")
    assert frontier.release(taken.leases[0], "answered").scopes == (change,)
    clock.forward(0.25)
    assert [lease.probe for lease in frontier.take(9).leases] == [False]


def test_hosts_of_a_responding_domain_fail_alone(frontier, clock):
    fail(frontier, clock, ["a.big.example", "b.big.example"])
    frontier.enqueue([article("good", "good.big.example")])
    frontier.release(take_first(frontier), "ok")
    clock.forward(1)
    assert fail(frontier, clock, ["c.big.example", "d.big.example"]).scopes == ()
    assert fail(frontier, clock, ["a.big.example", "b.big.example"]).scopes == ()  # counted before


def test_failures_of_our_own_outage_are_forgiven(frontier, clock):
    hosts = [f"{name}.big.example" for name in "abc"]
    frontier.enqueue([article(f"x{host}", host) for host in hosts], delay_sec=1)
    assert fail(frontier, clock, hosts).scopes[0].after == "open"
    assert frontier.forgive([*hosts, "unknown.example"]) == 1
    clock.forward(1)
    assert len(frontier.take(9).leases) == 1
    frontier.enqueue([article("y", "other.example"), article("z", "other.example")])
    frontier.release(take_first(frontier), "throttled", wait_sec=90)
    frontier.forgive(["other.example"])
    assert frontier.host("other.example").wait_sec == 90  # its own Retry-After


def test_the_pause_of_a_429_outlasts_a_forgiven_outage(make):
    frontier = make(host_concurrency=2, host_delay_sec=0, circuit_failures=1)
    frontier.enqueue([article("a"), article("b")])
    throttled, failing = frontier.take(2).leases
    frontier.release(throttled, "throttled", wait_sec=900)
    frontier.release(failing, "site")
    assert frontier.host("one.example").circuit == "open"
    assert frontier.forgive(["one.example"]) == 1
    assert (frontier.host("one.example").circuit, frontier.host("one.example").wait_sec) == ("closed", 900)


# --- figures ---


def test_figures(frontier, clock):
    frontier.enqueue([article("a", source="s", origin="feed"), article("b", "two.example", source="s", origin="feed")])
    frontier.enqueue([feed("feed:1", "three.example")], delay_sec=10)
    clock.forward(3)
    lease = take_first(frontier)
    frontier.done(lease)
    clock.forward(9)
    assert [lease.id for lease in frontier.take(1).leases] == ["feed:1"]
    found = frontier.statistics()
    assert found.by("status", "kind", "origin", "source") == {
        "pending:article:feed:s": 1,
        "fetched:article:feed:s": 1,
        "pending:feed:manual:": 1,
    }
    assert (found.leased, found.places["page", "ready"], found.places["poll", "delayed"]) == (1, 1, 0)
    assert found.lateness["page"].buckets == ((4.0, 1),)
    assert found.lateness["poll"].buckets == ((2.0, 1),)
    assert (found.lateness["page"].total_sec, found.lateness["poll"].total_sec) == (3.0, 2.0)


@pytest.mark.parametrize(("late", "bound"), [(0, 1), (1, 1), (1.001, 2), (65536, 65536), (65537, float("inf"))])
def test_the_buckets_of_lateness(frontier, clock, late, bound):
    frontier.enqueue([article()])
    clock.forward(late)
    take_first(frontier)
    assert frontier.statistics().lateness["page"].buckets == ((bound, 1),)


def test_counts_follow_a_task_whose_source_changes(frontier):
    frontier.enqueue([feed(source="old")])
    frontier.done(take_first(frontier), status="pending", delay_sec=5, patch={"source": "new"})
    assert frontier.statistics().by("source") == {"old": 0, "new": 1}


def test_the_tasks_of_hosts(frontier, clock):
    frontier.enqueue([article("a"), article("b"), article("c", "two.example")])
    frontier.enqueue([feed()], delay_sec=60)
    lease = take_first(frontier)
    assert frontier.hosts() == (0, {"one.example": 3, "two.example": 1})
    frontier.give_back(lease, reason="redirected", patch={"url": "https://two.example/a", "host": "two.example"})
    frontier.remove("feed:f")
    assert frontier.host("one.example").tasks == 1
    assert frontier.host("two.example").tasks == 2
    assert frontier.host("nobody.example").tasks == 0


def test_urls_are_listed_in_parts(frontier):
    frontier.enqueue([article(f"a{n}", f"h{n}.example") for n in range(300)])
    frontier.done(take_first(frontier), status="dead", reason="http_404")
    take_first(frontier)
    found, cursor, calls = {}, 0, 0
    while cursor or not calls:
        cursor, some = frontier.urls(cursor, count=50)
        found |= {task.id: history.status for task, history in some}
        calls += 1
    assert calls > 2
    assert len(found) == 300
    assert sorted(set(found.values())) == ["dead", "fetching", "pending"]


# --- leases ---


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (lambda frontier, lease: frontier.done(lease, patch={"etag": "x"}, commit=[["SET", "fc:{0}:x", "1"]]), "lost"),
        (lambda frontier, lease: frontier.done(lease, status="dead", dead_letter=True, signal="site"), "lost"),
        (lambda frontier, lease: frontier.give_back(lease, reason="x", counted=True, patch={"host": "h"}), "lost"),
        (lambda frontier, lease: frontier.release(lease, "site", wait_sec=90), Released("lost", "lost", 0)),
        (lambda frontier, lease: frontier.turn(lease), None),
        (lambda frontier, lease: frontier.heartbeat([lease]), {"a"}),
    ],
    ids=["done", "done with signal", "give_back", "release", "turn", "heartbeat"],
)
def test_a_lost_lease_changes_nothing(make, clock, redis_client, act, expected):
    mine, other = make(), make()
    mine.enqueue([article("a")])
    lease = take_first(mine)
    clock.forward(61)
    other.take(1)
    clock.forward(1)
    leases = other.take(1).leases
    before = everything(redis_client)
    assert act(mine, lease) == expected
    assert everything(redis_client) == before
    for each in leases:
        assert other.done(each) == "done"


def everything(client):
    """Each key with its content."""
    readers = {
        "string": client.get,
        "hash": client.hgetall,
        "list": lambda key: client.lrange(key, 0, -1),
        "set": client.smembers,
        "zset": lambda key: client.zrange(key, 0, -1, withscores=True),
    }
    return {key: readers[client.type(key)](key) for key in client.scan_iter()}


def test_a_heartbeat_keeps_a_lease(frontier, clock):
    frontier.enqueue([article("a", "h1"), article("b", "h2")])
    first, left = frontier.take(2).leases
    for _ in range(5):
        clock.forward(59)
        frontier.heartbeat([first])
    assert ids(frontier.take(2)) == []
    clock.forward(1)
    assert ids(frontier.take(2)) == [left.id]
    assert frontier.heartbeat([first, left]) == {left.id}
    assert frontier.heartbeat([]) == set()


def test_a_task_is_given_up_after_the_deaths_of_four_workers(frontier, clock, redis_client):
    frontier.enqueue([article()])
    for deaths, later in [(0, 0), (1, 0), (2, 60), (3, 480)]:
        clock.forward(later)
        clock.forward(1)
        history = take_first(frontier).history
        assert (history.attempts, history.deaths) == (0, deaths)
        clock.forward(60)
        taken = frontier.take(1)
        for lease in taken.leases:
            frontier.give_back(lease, reason="closing")
    assert taken.given_up == (GivenUp("a", "dead", "lease_expired"),)
    assert frontier.find("a")[1].reason == "lease_expired"
    assert json.loads(redis_client.lindex("fc:{0}:dlq", 0))["attempts"] == 4


def test_a_death_for_another_reason_blames_no_task(make, clock):
    make().enqueue([article(f"a{n:02}", f"h{n}.example") for n in range(16)])
    for _ in range(8):  # each dies at once, whatever it holds
        worker = make()
        taken = worker.take(16)
        clock.forward(60)
        assert (taken.given_up, worker.take(0).given_up) == ((), ())
        clock.forward(5)
    frontier = make()
    assert frontier.counts()["pending:article"] == 16
    alive = set()
    while len(alive) < 16:
        for lease in frontier.take(16).leases:
            alive.add(lease.id)
            frontier.done(lease)
        clock.forward(480)


def test_a_task_that_kills_its_worker_ends_and_its_neighbours_survive(make, clock):
    make().enqueue([article(f"a{n:02}", f"h{n}.example") for n in range(40)])
    deaths, done, given_up = 0, set(), []
    for _ in range(500):
        if len(done) == 39 and given_up:
            break
        worker, killed = make(), False
        while not killed:
            taken = worker.take(16)
            given_up += taken.given_up
            killed = any(lease.id == "a07" for lease in taken.leases)
            for lease in () if killed else taken.leases:
                done.add(lease.id)
                worker.done(lease)
            if not taken.leases:
                break
        deaths += killed
        clock.forward(61)
    assert (deaths, [each.id for each in given_up], len(done)) == (4, ["a07"], 39)


def test_a_worker_takes_a_single_suspect_at_a_time(make, clock):
    worker, other = make(), make()
    worker.enqueue([article(f"a{n}", f"h{n}.example") for n in range(3)])
    for _ in range(2):
        assert len(make().take(9).leases) == 3
        clock.forward(60)
        worker.take(0)
        clock.forward(1)
    clock.forward(60)
    assert ids(worker.take(9)) == ["a0"]
    assert worker.take(9).leases == ()
    clock.forward(1)
    (second,) = other.take(9).leases
    assert second.id == "a1"
    clock.forward(1)
    other.done(second)
    assert ids(other.take(9)) == ["a2"]


def test_many_leases_that_ran_out_come_back_over_several_takes(make, clock):
    frontier = make(host_delay_sec=0)
    frontier.enqueue([article(f"a{n}", f"h{n}") for n in range(40)])
    assert len(frontier.take(40).leases) == 40
    clock.forward(60)
    taken = frontier.take(0)
    assert taken.wait_sec == 0
    seen = sum(len(frontier.take(40).leases) for _ in range(4))
    assert seen == 40


def test_tokens_of_the_same_moment_differ(make, clock):
    frontier = make(host_delay_sec=0)
    frontier.enqueue([article()])
    tokens = set()
    for _ in range(20):
        lease = take_first(frontier)
        tokens.add(lease.token)
        frontier.give_back(lease, reason="x")
    assert len(tokens) == 20


# --- giving back ---


def test_attempts_that_count_end_a_url_with_a_dead_letter(frontier, clock, redis_client):
    frontier.enqueue([article(category="news", source="s", priority=7)])
    for attempt in range(1, 5):
        lease = take_first(frontier)
        answer = frontier.give_back(lease, reason="http_500", counted=True, http_status=500, delay_sec=2)
        assert answer == ("dead" if attempt == 4 else "pending")
        clock.forward(2)
    at = (clock.ms - 2000) / 1000
    (letter,) = redis_client.lrange("fc:{0}:dlq", 0, -1)
    assert json.loads(letter) == {
        "url": "https://one.example/a",
        "uid": "a",
        "kind": "article",
        "reason": "http_500",
        "status": 500,
        "at": at,
        "attempts": 4,
        "category": "news",
        "priority": 7,
        "source": "s",
        "origin": "manual",
    }
    assert frontier.counts() == {"pending:article": 0, "dead:article": 1, "leased": 0}
    assert frontier.enqueue([article()]) == ["known"]


def test_a_pause_without_a_fault_costs_no_attempt(frontier, clock):
    frontier.enqueue([article()])
    for _ in range(20):
        assert frontier.give_back(take_first(frontier), reason="robots_unavailable", delay_sec=5) == "pending"
        clock.forward(5)
    history = take_first(frontier).history
    assert (history.attempts, history.last_error) == (0, "robots_unavailable")


@pytest.mark.parametrize("kind", ["feed", "sitemap", "websub"])
def test_polls_are_quarantined_ever_longer_and_never_removed(frontier, clock, kind, redis_client):
    frontier.enqueue([feed(kind=kind)])
    for hours in (1, 2, 4, 8, 16, 24, 24):
        for _ in range(3):
            assert frontier.give_back(take_first(frontier), reason="worker_died", counted=True) == "pending"
            clock.forward(1)
        assert frontier.give_back(take_first(frontier), reason="worker_died", counted=True) == "quarantined"
        assert frontier.take(1).wait_sec == hours * HOUR
        clock.forward(hours * HOUR)
    lease = take_first(frontier)
    assert lease.history.quarantined == 7
    frontier.done(lease, status="pending", delay_sec=900)
    assert frontier.find("feed:f")[1].quarantined == 0
    assert not redis_client.exists("fc:{0}:dlq")


@pytest.mark.parametrize(
    ("kind", "expected"), [("article", "dead"), ("page", "dead"), ("archive", "dead"), ("feed", "pending")]
)
def test_a_url_that_alone_fails_site_wide_is_dead_after_four(frontier, clock, kind, expected):
    frontier.enqueue([article("bad", kind=kind)])
    answers = []
    for number in range(4):
        clock.forward(1)
        frontier.enqueue([article(f"good{number}", priority=10)])
        frontier.done(take_first(frontier, lanes=["page"]), signal="ok")
        clock.forward(1)
        lease = take_first(frontier)
        frontier.release(lease, "none")
        answers.append(frontier.give_back(lease, reason="http_503", site_wide=True, http_status=503))
    assert answers == ["pending"] * 3 + [expected]


def test_a_response_of_the_same_millisecond_is_no_evidence_against_a_url(make, clock):
    """A URL is held against its host's answers since its last failure, not against one that came with it."""
    frontier = make(host_delay_sec=0, circuit_failures=99)
    frontier.enqueue([article("bad", priority=1)])
    for number in range(6):
        frontier.enqueue([article(f"good{number}", priority=10)])
        frontier.done(take_first(frontier), signal="ok")
        lease = take_first(frontier)
        frontier.release(lease, "site")
        assert frontier.give_back(lease, reason="http_503", site_wide=True) == "pending"


def test_a_url_whose_whole_host_fails_is_kept(frontier, clock):
    frontier.enqueue([article()])
    for _ in range(12):
        lease = take_first(frontier)
        frontier.release(lease, "site")
        assert frontier.give_back(lease, reason="http_503", site_wide=True) == "pending"
        clock.forward(301)


def fails(frontier, clock, name, recovered_sec=100):
    """A poll that its host fails, put off for a day."""
    lease = take_first(frontier)
    assert lease.id == name
    frontier.release(lease, "soft")
    frontier.done(lease, status="pending", delay_sec=86_400, recovered_sec=recovered_sec)
    clock.forward(1)


def due(redis_client, clock):
    """In how many seconds each delayed poll is due."""
    waiting = redis_client.zrange("fc:{0}:delayed:poll", 0, -1, withscores=True)
    return {member.split("example")[1]: round((at - clock.ms) / 1000) for member, at in waiting}


def test_polls_that_waited_for_their_host_are_due_when_it_responds(frontier, clock, redis_client):
    """But for the first of them: until the second failure it was that poll's own."""
    frontier.enqueue([feed(f"feed:{n}") for n in range(4)])
    for n, recovered_sec in enumerate([100, 100, 200, None]):
        fails(frontier, clock, f"feed:{n}", recovered_sec)
    clock.forward(3600)
    frontier.enqueue([article()])
    assert min(due(redis_client, clock).values()) > 80_000
    frontier.release(take_first(frontier), "answered")
    assert {name: wait for name, wait in due(redis_client, clock).items() if wait < 80_000} == {
        "feed:1": 0,
        "feed:2": 0,
    }
    assert redis_client.zcard("fc:{0}:away:one.example") == 0


def test_no_called_poll_comes_sooner_than_without_the_failure(frontier, clock, redis_client):
    frontier.enqueue([feed(f"feed:{n}") for n in range(3)])
    for n in range(3):
        fails(frontier, clock, f"feed:{n}", 100 * n)
    frontier.enqueue([article()])
    frontier.release(take_first(frontier), "ok")
    assert due(redis_client, clock) == {"feed:0": 86_397, "feed:1": 98, "feed:2": 199}


def test_each_response_calls_a_bounded_number_of_polls(make, clock, redis_client):
    frontier = make(circuit_failures=99)
    frontier.enqueue([feed(f"feed:{n:02}") for n in range(40)])
    for n in range(40):
        fails(frontier, clock, f"feed:{n:02}", 0)
    called = []
    for n in range(4):
        frontier.enqueue([article(f"a{n}")])
        frontier.release(take_first(frontier, lanes=["page"]), "ok")
        clock.forward(1)
        called.append(sum(wait <= 0 for wait in due(redis_client, clock).values()))
        frontier.take(0)
    assert called == [16, 16, 7, 0]  # those of before stand in their queue by then
    assert redis_client.hget("fc:{0}:h:one.example", "away") == "0"


def test_a_poll_that_succeeded_is_not_called(frontier, clock, redis_client):
    frontier.enqueue([feed(f"feed:{n}") for n in range(2)])
    fails(frontier, clock, "feed:0")
    fails(frontier, clock, "feed:1")
    frontier.enqueue([feed("feed:1")], again="operator")
    lease = take_first(frontier)
    frontier.done(lease, status="pending", delay_sec=900, signal="none")
    clock.forward(1)
    frontier.enqueue([article()])
    frontier.release(take_first(frontier), "ok")
    assert due(redis_client, clock)["feed:1"] == 899


def test_a_poll_that_fails_by_itself_keeps_its_patience(frontier, clock, redis_client):
    frontier.enqueue([feed(), article("a"), article("b")])
    for _ in range(2):
        fails(frontier, clock, "feed:f")
        frontier.release(take_first(frontier), "ok")
        clock.forward(1)
        assert due(redis_client, clock)["feed:f"] > 86_000
        frontier.enqueue([feed()], again="operator")


def test_a_visit_has_the_hosts_turn_and_slot_like_a_task(frontier, clock):
    frontier.enqueue([article("a"), article("b")])
    visit = frontier.visit("one.example", "https://one.example/robots.txt")
    assert (visit.task.host, visit.task.url) == ("one.example", "https://one.example/robots.txt")
    clock.forward(5)
    assert ids(frontier.take(2)) == []  # its answer is still being read
    assert frontier.visit("one.example", "https://one.example/x") == 0.2
    assert frontier.visit("two.example", "https://two.example/x").task.host == "two.example"
    frontier.give_back(visit, reason="visited")
    assert ids(frontier.take(2)) == []  # the delay runs from there
    assert frontier.visit("one.example", "https://one.example/x") == 1.0
    clock.forward(1)
    lease = take_first(frontier)
    assert lease.id == "a"
    clock.forward(5)
    assert frontier.visit("one.example", "https://one.example/x") == 0.2
    frontier.release(lease, "ok")
    assert frontier.visit("one.example", "https://one.example/x") == 1.0


@pytest.mark.parametrize(("kind", "lane"), [("article", "page"), ("file", "file")])
def test_a_host_whose_slot_is_held_by_no_task_is_freed(frontier, redis_client, kind, lane):
    frontier.enqueue([article("a", kind=kind), article("b", kind=kind)])
    assert ids(frontier.take(1, lanes=[lane])) == ["a"]
    redis_client.delete("fc:{0}:holders", "fc:{0}:leases")  # as after a restore
    assert frontier.audit() == (0, 1)
    assert ids(frontier.take(1, lanes=[lane])) == []  # the delay runs


def test_leases_that_their_worker_does_not_know_of_are_returned_at_no_cost(frontier, make):
    frontier.enqueue([article(name, f"{name}.example") for name in "abc"])
    known, unknown = take_first(frontier), take_first(frontier)
    other = take_first(make())  # of another worker
    assert frontier.return_strays([known]) == 1
    states = [frontier.find(lease.id)[1].status for lease in (known, unknown, other)]
    assert states == ["fetching", "pending", "fetching"]
    assert (frontier.find(unknown.id)[1].attempts, frontier.audit(), frontier.counts()["leased"]) == (0, (0, 0), 2)
    assert frontier.return_strays([known]) == 0


def test_a_visit_whose_worker_died_ends_with_its_lease(frontier, clock):
    frontier.enqueue([article("a")])
    frontier.visit("one.example", "https://one.example/robots.txt")
    clock.forward(60)
    assert ids(frontier.take(1)) == []
    clock.forward(1)
    assert ids(frontier.take(1)) == ["a"]
    assert frontier.audit() == (0, 0)


def test_a_host_whose_circuit_is_open_is_not_visited(make):
    frontier = make(circuit_failures=1)
    frontier.enqueue([article()])
    frontier.release(take_first(frontier), "site")
    assert frontier.visit("one.example", "https://one.example/x") == 60.0


def test_a_redirect_to_another_host_waits_for_that_hosts_turn(frontier, clock):
    frontier.enqueue([article("a"), article("b"), article("x", "two.example")])
    first, busy = frontier.take(2).leases
    patch = {
        "url": "https://two.example/a",
        "host": "two.example",
        "payload": {"chain": ["https://one.example/a"], "e": []},
    }
    assert frontier.give_back(first, reason="redirected", patch=patch) == "pending"
    assert frontier.take(5).leases == ()
    clock.forward(1)
    assert ids(frontier.take(5)) == ["b"]
    frontier.done(busy)
    clock.forward(1)
    moved = take_first(frontier)
    assert (moved.task.url, moved.task.host, moved.task.payload) == tuple(patch.values())
    assert moved.history.attempts == 0
    frontier.release(moved, "ok")
    assert frontier.take(1).wait_sec is None


# --- ends ---


def test_done_writes_the_commit_and_the_patch_with_the_lease(frontier, redis_client):
    frontier.enqueue([feed(payload={"p": 1})])
    commit = [["HSET", "fc:{0}:feed:f", "etag", '"é"', "n", 1.5], ["RPUSH", "fc:{0}:journal:f", "1"]]
    lease = take_first(frontier)
    patch = {"etag": '"e"', "source": "s", "category": None, "payload": {"p": 2}}
    assert frontier.done(lease, status="pending", delay_sec=900, patch=patch, commit=commit) == "rescheduled"
    assert redis_client.hgetall("fc:{0}:feed:f") == {"etag": '"é"', "n": "1.5"}
    task, history = frontier.find("feed:f")
    assert (task.source, task.category, task.payload, history.etag) == ("s", None, {"p": 2}, '"e"')
    assert frontier.done(lease, status="pending", commit=commit) == "lost"
    assert redis_client.llen("fc:{0}:journal:f") == 1


def test_done_with_a_signal_is_release_and_done(frontier, clock):
    frontier.enqueue([article("a"), article("b")])
    frontier.done(take_first(frontier), signal="throttled")
    assert frontier.take(1).wait_sec == 30


def test_a_rescheduled_task_is_due_after_its_delay(frontier, clock):
    frontier.enqueue([feed()])
    frontier.done(take_first(frontier), status="pending", reason="not_modified", delay_sec=900.5)
    assert frontier.take(1).wait_sec == 900.5
    clock.forward(900.5)
    history = take_first(frontier).history
    assert (history.fetch_count, history.last_fetched_at, history.reason) == (1, START_MS, "not_modified")


@pytest.mark.parametrize("dead_letter", [True, False])
def test_a_dead_end_may_be_a_dead_letter(frontier, redis_client, dead_letter):
    frontier.enqueue([article()])
    frontier.done(take_first(frontier), status="dead", reason="http_404", dead_letter=dead_letter, http_status=404)
    letters = [json.loads(letter) for letter in redis_client.lrange("fc:{0}:dlq", 0, -1)]
    fields = [(each["reason"], each["status"], each["attempts"]) for each in letters]
    assert fields == [("http_404", 404, 1)] * dead_letter


def test_dead_letters_go_to_their_readers_in_order_and_are_bounded(frontier, clock, redis_client):
    frontier.enqueue([article(f"a{n}", f"h{n}", priority=9 - n % 9) for n in range(9)])
    for lease in frontier.take(9).leases:
        frontier.done(lease, status="dead", reason="gone", dead_letter=True)
    assert frontier.deliver_dead_letters(limit=4) == 4
    assert frontier.deliver_dead_letters(keep=6) == 5
    assert frontier.deliver_dead_letters() == 0
    uids = [json.loads(letter)["uid"] for letter in redis_client.lrange(keys.DEAD_LETTERS, 0, -1)]
    assert uids == [f"a{n}" for n in range(3, 9)]
    assert not redis_client.exists("fc:{0}:dlq")


def test_the_status_of_a_url(frontier, clock):
    def status():
        return frontier.find("a")[1].status

    assert frontier.find("a") is None
    frontier.enqueue([article()])
    assert status() == "pending"
    lease = take_first(frontier)
    assert status() == "fetching"
    frontier.give_back(lease, reason="http_500", counted=True, delay_sec=2)
    assert status() == "pending"
    clock.forward(2)
    frontier.done(take_first(frontier), reason="stored", patch={"content_hash": "c"})
    task, history = frontier.find("a")
    assert (history.status, history.reason, history.content_hash, history.fetch_count) == ("fetched", "stored", "c", 1)
    assert (history.last_fetched_at, history.updated_at, history.discovered_at) == (clock.ms, clock.ms, START_MS)
    assert (task.url, task.payload, history.last_error) == ("https://one.example/a", {}, "http_500")


@pytest.mark.parametrize(("status", "reason"), [("dead", "robots_blocked"), ("fetched", "already_stored")])
def test_a_task_that_ends_without_a_request_was_not_fetched(frontier, clock, status, reason):
    frontier.enqueue([article()])
    frontier.done(take_first(frontier), status=status, reason=reason)
    _, history = frontier.find("a")
    assert (history.status, history.reason, history.updated_at) == (status, reason, clock.ms)
    assert (history.fetch_count, history.last_fetched_at) == (0, None)


@pytest.mark.parametrize("state", ["pending", "delayed", "leased", "ended"])
def test_remove(frontier, clock, state):
    frontier.enqueue([article("a"), article("b", priority=1)], delay_sec=60 if state == "delayed" else 0)
    lease = take_first(frontier) if state in ("leased", "ended") else None
    if state == "ended":
        frontier.done(lease)
    assert frontier.remove("a") is True
    assert frontier.remove("a") is False
    assert frontier.find("a") is None
    if lease:
        assert frontier.done(lease) == "lost"
        assert frontier.heartbeat([lease]) == {"a"}
    clock.forward(61)
    assert ids(frontier.take(5)) == ["b"]
    assert frontier.enqueue([article("a")]) == ["queued"]


def test_a_record_that_was_lost_is_stepped_over(frontier, clock, redis_client):
    frontier.enqueue([article("a", priority=9), article("b")])
    redis_client.delete("fc:{0}:t:a")
    assert ids(frontier.take(1)) == ["b"]


# --- the server ---


def test_a_clock_stepped_back_stops_nothing(frontier, clock):
    frontier.enqueue([article("a"), article("b")])
    frontier.enqueue([article("c", "two.example")], delay_sec=10)
    lease = take_first(frontier)
    clock.forward(-DAY)
    frontier.release(lease, "ok")
    assert frontier.take(1).wait_sec == 1
    clock.forward(1)
    assert ids(frontier.take(1)) == ["b"]
    clock.forward(9)
    assert ids(frontier.take(1)) == ["c"]
    assert frontier.heartbeat([lease]) == set()


def test_scripts_that_the_server_forgot_are_loaded_again(frontier, clock, redis_client):
    frontier.enqueue([article("a"), article("b")])
    redis_client.script_flush()
    lease = take_first(frontier)
    redis_client.script_flush()
    assert frontier.done(lease) == "done"


def test_the_servers_own_clock(redis_client):
    frontier = Shard(redis_client, POLICY)
    frontier.enqueue([article("a"), article("b")])
    lease = take_first(frontier)
    seconds, micros = redis_client.time()
    assert abs(lease.history.discovered_at - (seconds * 1000 + micros // 1000)) < 5000
    assert 0.5 < frontier.release(lease, "ok").wait_sec <= 1.0


def test_counts_add_up(frontier, clock):
    frontier.enqueue([article(f"a{n}", f"h{n}") for n in range(6)])
    frontier.enqueue([feed("feed:1"), feed("feed:2")], delay_sec=HOUR)
    first, second, third, *_ = frontier.take(5).leases
    frontier.done(first)
    frontier.done(second, status="dead")
    frontier.give_back(third, reason="x")
    frontier.remove("feed:2")
    expected = {"pending:article": 4, "pending:feed": 1, "fetched:article": 1, "dead:article": 1, "leased": 2}
    assert frontier.counts() == expected


def test_a_host_without_tasks_expires_and_a_host_with_tasks_does_not(frontier, clock, redis_client):
    frontier.enqueue([article("a"), article("b")])
    frontier.done(take_first(frontier))
    assert redis_client.ttl("fc:{0}:h:one.example") == -1
    clock.forward(1)
    lease = take_first(frontier)
    frontier.release(lease, "ok")
    assert frontier.give_back(lease, reason="x", delay_sec=90 * DAY) == "pending"
    assert redis_client.ttl("fc:{0}:h:one.example") == -1
    frontier.remove("b")
    assert redis_client.ttl("fc:{0}:h:one.example") > DAY
    frontier.enqueue([article("c")])
    assert redis_client.ttl("fc:{0}:h:one.example") == -1


def test_shards_do_not_meet(redis_client, clock):
    shard_0, shard_1 = Shard(redis_client, POLICY, clock=clock), Shard(redis_client, POLICY, shard=1, clock=clock)
    shard_0.enqueue([article()])
    assert shard_1.take(1).leases == ()
    assert shard_1.enqueue([article()]) == ["queued"]


def test_scripts_touch_their_shards_keys_alone(make, clock, redis_client):
    frontier = make(max_attempts=1)
    with redis_client.monitor() as monitor:
        exercise(frontier, clock)
        redis_client.echo("exercised")
        commands = []
        for command in monitor.listen():
            if command["command"] == "ECHO exercised":
                break
            commands.append(command)
    from_scripts = [each["command"] for each in commands if each["client_type"] == "lua"]
    assert len({command.split()[0] for command in from_scripts}) > 10
    named = [command.split()[1] for command in from_scripts]
    assert [key for key in named if not key.startswith("fc:{0}:")] == []
    assert {re.sub(r":(t|h|q:\w+):.*", r":\1", key) for key in named} >= {"fc:{0}:t", "fc:{0}:h", "fc:{0}:dlq"}
    assert [key for key in redis_client.scan_iter() if not key.startswith("fc:{0}:")] == [keys.DEAD_LETTERS]


def exercise(frontier, clock):
    """Each operation once, and most of what it may come to."""
    frontier.enqueue([article("a"), feed(), article("b", "two.example"), article("c", "three.example")])
    frontier.enqueue([article("d")], delay_sec=5)
    frontier.pace("one.example", delay_sec=1)
    leases = frontier.take(5).leases
    frontier.heartbeat(leases)
    frontier.turn(leases[0])
    frontier.release(leases[0], "throttled")
    frontier.done(leases[0], status="pending", delay_sec=5, commit=[["SET", "fc:{0}:x", 1]])
    frontier.give_back(leases[1], reason="http_500", counted=True)
    frontier.done(leases[2], status="dead", dead_letter=True)
    frontier.enqueue([article("d", priority=9)])
    frontier.remove("d")
    clock.forward(HOUR)
    frontier.take(5)
    frontier.deliver_dead_letters()


def test_when_the_first_lease_ends(make, clock):
    first, second = make(), make()
    assert first.first_end_sec() is None
    first.enqueue([article("a"), article("b", "two.example")])
    lease = take_first(first)
    clock.forward(20)
    assert take_first(second)
    assert second.first_end_sec() == POLICY.lease_sec - 20
    first.heartbeat([lease])
    assert second.first_end_sec() == POLICY.lease_sec
    clock.forward(POLICY.lease_sec + 1)
    assert second.first_end_sec() == 0
