"""Two workers, crashes, lost leases and a clock that jumps, against a model of the frontier in dictionaries.

    FRONTIER_MODEL_EXAMPLES=5000 pytest --timeout=0 tests/store/frontier/test_queue_model.py

plays longer. The model knows the rules from the design and not from the scripts; pace and circuit are the
models of tests/site, which test_queue_rules.py holds against the scripts.
"""

import os
from collections import Counter
from dataclasses import dataclass, field, replace

import host_pace as pacing
import hypothesis.strategies as st
from host_circuit import CLOSED, CircuitPolicy, DomainCircuit, step, widened
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from feedcrawl.domain.frontier.tasks import Lease, Task
from feedcrawl.domain.urls import site_of
from feedcrawl.store.frontier.interface import GivenUp, Released, ScopeChange
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy, ScopePace

EXAMPLES = int(os.environ.get("FRONTIER_MODEL_EXAMPLES", "0"))
START = 1_764_286_185_000
HOUR = 3_600_000
DAY = 24 * HOUR
LEASE, DELAY, ATTEMPTS, FAILURES = 60_000, 1_000, 3, 3
LANES = ("poll", "page")
DOMAIN_DELAY, DOMAIN_CONCURRENCY = 400, 2
HOSTS = ("a.one.example", "b.one.example", "c.one.example", "two.example")
KINDS = {f"{kind}{number}": kind for kind in ("article", "feed", "archive") for number in range(3)}
ids = st.sampled_from(sorted(KINDS))
delays = st.sampled_from([0, 0, 0, 500, 1_000, 90_000, HOUR, DAY])
leases = st.integers(0, 9)
signals = st.sampled_from(["ok", "ok", "answered", "none", "site", "soft", "throttled"])


def home(task_id):
    return HOSTS[sum(task_id.encode()) % len(HOSTS)]


def lane_of(kind):
    return "poll" if kind == "feed" else "page"


@dataclass
class Domain:
    """What the hosts of a registered domain share."""

    tat: int = 0
    slots: int = 0
    wide: DomainCircuit = field(default_factory=DomainCircuit)

    @property
    def circuit(self):
        return self.wide.circuit

    def full(self):
        return self.slots >= (DOMAIN_CONCURRENCY if self.circuit.state == "closed" else 1)

    def hear(self, signal, now, blamed):
        before = self.circuit
        self.wide, blamed = widened(self.wide, signal, now, blamed=blamed)
        if self.circuit.opened > before.opened:
            self.tat = pacing.paused(self.tat, now, self.circuit.until_ms - now)
        if before.state != "closed" and self.circuit.state == "closed":
            self.tat = min(self.tat, now + DOMAIN_DELAY)
        return blamed


@dataclass
class Host:
    """Pace and circuit of one host."""

    concurrency: int
    domain: Domain
    blamed: bool = False
    tat: int = 0
    slots: int = 0
    pace: pacing.Pace = field(default_factory=pacing.Pace)
    circuit: object = CLOSED
    answered_at: int = 0

    def full(self):
        return self.slots >= (self.concurrency if self.circuit.state == "closed" else 1)

    def delay(self):
        return pacing.effective_delay(self.pace, DELAY)

    def reserve(self, now):
        delays = self.delay(), DOMAIN_DELAY
        at, (self.tat, self.domain.tat) = pacing.reserve_with_domain((self.tat, self.domain.tat), now, delays)
        return at

    def start(self, now):
        """Whether the first request must be a probe."""
        self.circuit = step(self.circuit, "due", now)
        self.domain.wide = replace(self.domain.wide, circuit=step(self.domain.circuit, "due", now))
        self.reserve(now)
        self.slots += 1
        self.domain.slots += 1
        return "half_open" in (self.circuit.state, self.domain.circuit.state)

    def turn(self, now):
        if self.concurrency == 1:
            self.tat = pacing.paused(self.tat, now, self.delay())
        return self.reserve(now)

    def free(self, now):
        self.slots -= 1
        self.domain.slots -= 1
        if self.concurrency == 1:
            self.tat = pacing.paused(self.tat, now, self.delay())

    def hear(self, signal, now):
        before, wider, pause = self.circuit, self.domain.circuit, 0
        if signal != "none":
            heard = "ok" if signal == "answered" else signal
            self.circuit = step(self.circuit, heard, now, CircuitPolicy(threshold=FAILURES))
            self.blamed = self.domain.hear(heard, now, self.blamed)
        if self.circuit.opened > before.opened:
            pause = self.circuit.until_ms - now
        if signal in ("ok", "answered"):
            self.answered_at = now
        if signal == "ok":
            self.pace = pacing.answered(self.pace)
        if signal == "throttled":
            pause = pacing.pause_ms(self.pace, None)
            self.pace = pacing.throttled(self.pace)
        if pause:
            self.tat = pacing.paused(self.tat, now, pause)
        return (before.state, self.circuit.state), (wider.state, self.domain.circuit.state)


@dataclass
class Future:
    """One task: where it is, and what it has been through."""

    id: str
    host: str
    priority: int
    discovered: int
    place: str = "queued"  # delayed, leased, fetched, dead
    at: int = 0  # since when it waits | when it is due | when its lease ends
    lease: Lease | None = None
    worker: int = 0
    slot: bool = False
    attempts: int = 0
    deaths: int = 0
    failed_alone: int = 0
    failed_at: int | None = None
    quarantined: int = 0
    again_queued: bool = False
    fetched: int = 0

    @property
    def kind(self):
        return KINDS[self.id]

    @property
    def lane(self):
        return lane_of(self.kind)

    @property
    def pending(self):
        return self.place in ("queued", "delayed", "leased")

    def rank(self):
        return self.at - self.priority * HOUR

    def wait(self, now, delay):
        self.place, self.at, self.lease = ("delayed", now + delay, None) if delay else ("queued", now, None)

    def start_anew(self):
        self.attempts = self.failed_alone = self.quarantined = self.deaths = 0
        self.failed_at, self.again_queued = None, False


@dataclass
class Model:
    """The frontier, as the design has it."""

    concurrency: int
    now: int = START
    pushed_at: float = 0.0
    tasks: dict = field(default_factory=dict)
    hosts: dict = field(default_factory=dict)
    domains: dict = field(default_factory=dict)
    suspects: dict = field(default_factory=dict)
    ended: Counter = field(default_factory=Counter)

    def host(self, name):
        if name not in self.hosts:
            site = name.removeprefix("a.").removeprefix("b.").removeprefix("c.")
            self.hosts[name] = Host(self.concurrency, self.domains.setdefault(site, Domain()))
        return self.hosts[name]

    def leased(self):
        return [task for task in self.tasks.values() if task.place == "leased"]

    def enqueue(self, task_id, priority, delay, again):
        self.pushed_at = max(self.now, self.pushed_at + 1 / 1024)
        came = self.now if delay else self.pushed_at
        old = self.tasks.get(task_id)
        if old is None or (not old.pending and again):
            new = self.tasks[task_id] = Future(task_id, home(task_id), priority, old.discovered if old else self.now)
            new.fetched = old.fetched if old else 0
            new.wait(came, delay)
            return "again" if old else "queued"
        if not old.pending:
            return "known"
        better = priority > old.priority
        old.priority = max(priority, old.priority)
        if again:
            if old.place == "leased":
                old.again_queued = True
            else:
                old.wait(came, delay)
            return "again"
        return "leased" if old.place == "leased" else "raised" if better else "pending"

    def drop(self, task):
        if task.slot:
            self.host(task.lease.task.host).free(self.now)
        task.slot, task.lease = False, None

    def give_up(self, task):
        if task.kind == "feed":
            task.quarantined += 1
            task.attempts = task.deaths = 0
            task.wait(self.now, min(DAY, HOUR << (task.quarantined - 1)))
            return "quarantined"
        self.end(task, "dead")
        return "dead"

    def end(self, task, status):
        task.place, task.lease = status, None
        task.start_anew()
        self.ended[f"{status}:{task.kind}"] += 1

    def done(self, task, status, delay, signal):
        if signal:
            self.host(task.lease.task.host).hear(signal, self.now)
        self.drop(task)
        task.fetched += 1
        if status != "pending" and not task.again_queued:
            self.end(task, status)
            return "done"
        task.wait(self.now, 0 if task.again_queued else delay)
        task.start_anew()
        return "rescheduled"

    def give_back(self, task, delay, counted, site_wide, host):
        leased_host = task.lease.task.host
        self.drop(task)
        if host and host != leased_host:
            task.host, task.failed_alone, task.failed_at = host, 0, None
        if task.again_queued:
            task.start_anew()
            task.wait(self.now, delay)
            return "pending"
        task.attempts += counted
        if site_wide:
            since = task.discovered if task.failed_at is None else task.failed_at
            task.failed_alone += self.host(leased_host).answered_at > since
            task.failed_at = self.now
        alone = site_wide and task.failed_alone >= ATTEMPTS and task.kind != "feed"
        if alone or task.attempts >= ATTEMPTS:
            return self.give_up(task)
        task.wait(self.now, delay)
        return "pending"

    def reclaim(self):
        given_up = []
        for task in sorted(self.leased(), key=lambda task: (task.at, task.id)):
            if task.at > self.now:
                continue
            self.drop(task)
            if task.again_queued:
                task.start_anew()
            else:
                task.deaths += 1
            if task.deaths >= ATTEMPTS:
                given_up.append(GivenUp(task.id, self.give_up(task), "lease_expired"))
            else:
                task.wait(self.now, LEASE * 8 ** (task.deaths - 2) if task.deaths > 1 else 0)
        return given_up

    def may_lease(self, task, worker):
        """A worker holds one task at a time that two workers have died with."""
        if task.deaths < 2:
            return True
        other = self.tasks.get(self.suspects.get(worker))
        if other and other.place == "leased" and other.worker == worker:
            return False
        self.suspects[worker] = task.id
        return True

    def queued(self, lane):
        """The best task of each host in this lane."""
        for task in self.tasks.values():
            if task.place == "delayed" and task.at <= self.now:
                task.place = "queued"
        queues = {}
        for task in self.tasks.values():
            if task.place == "queued" and task.lane == lane:
                queues.setdefault(task.host, []).append((task.rank(), task.id))
        return {host: min(queue) for host, queue in queues.items()}

    def best(self, lanes):
        choices = [
            (rank - (22 * HOUR if lane == "poll" else 0), lanes.index(lane), host, task_id)
            for lane in lanes
            for host, (rank, task_id) in self.queued(lane).items()
            if not any(paced.full() or paced.tat > self.now for paced in (self.host(host), self.host(host).domain))
        ]
        return self.tasks[min(choices)[3]] if choices else None

    def take(self, wanted, lanes, worker):
        """The ids and whether each is a probe."""
        taken = []
        while len(taken) < wanted and (task := self.best(lanes)):
            if not self.may_lease(task, worker):
                task.wait(self.now, 1_000)
                continue
            probe = self.host(task.host).start(self.now)
            task.place, task.at, task.slot, task.worker = "leased", self.now + LEASE, True, worker
            taken.append((task.id, probe))
        return taken

    def outlook(self, lanes):
        """Milliseconds until more may be due, and hosts that are blocked."""
        waits, blocked = [], 0
        for lane in lanes:
            waiting_domains = {}
            for host in map(self.host, self.queued(lane)):
                if host.full():
                    blocked += 1
                elif host.tat > self.now:
                    waits.append(host.tat - self.now)
                elif host.domain.full() or host.domain.tat > self.now:
                    waiting_domains[id(host.domain)] = host.domain
                else:
                    waits.append(0)
            blocked += sum(domain.full() for domain in waiting_domains.values())
            waits += [domain.tat - self.now for domain in waiting_domains.values() if not domain.full()]
            waits += [t.at - self.now for t in self.tasks.values() if t.place == "delayed" and t.lane == lane]
        return min(waits, default=None), blocked


class Workers(RuleBasedStateMachine):
    """What two workers and their machines may do to the frontier."""

    def __init__(self, client):
        super().__init__()
        self.client = client
        self.raw = START

    @initialize(concurrency=st.integers(1, 2))
    def begin(self, concurrency):
        self.client.flushall()
        policy = replace(
            FrontierPolicy(host_delay_sec=DELAY / 1000, lease_sec=LEASE / 1000),
            host_concurrency=concurrency,
            scopes={"domain": ScopePace(DOMAIN_DELAY / 1000, DOMAIN_CONCURRENCY)},
            max_attempts=ATTEMPTS,
            circuit_failures=FAILURES,
        )
        self.model = Model(concurrency)
        self.workers = [Shard(self.client, policy, clock=lambda: self.raw) for _ in range(2)]
        self.leases = ([], [])
        self.requested_at = {}
        self.longest_gap = {}

    @rule(
        pushes=st.lists(st.tuples(ids, st.integers(1, 10), delays, st.sampled_from(["", "", "operator"])), max_size=6)
    )
    def enqueue(self, pushes):
        tasks = [(self.task(task_id, priority), delay / 1000, again) for task_id, priority, delay, again in pushes]
        assert self.workers[0].enqueue_each(tasks) == [self.model.enqueue(*each) for each in pushes]

    def task(self, task_id, priority):
        return Task(task_id, KINDS[task_id], f"https://{home(task_id)}/{task_id}", home(task_id), priority)

    @rule(
        worker=st.integers(0, 1),
        wanted=st.sampled_from([0, 1, 1, 2, 5]),
        lanes=st.sampled_from([LANES, LANES, ("page",), ("poll",)]),
    )
    def take(self, worker, wanted, lanes):
        taken = self.workers[worker].take(wanted, lanes=lanes)
        assert list(taken.given_up) == self.model.reclaim()
        expected = self.model.take(wanted, lanes, worker)
        assert [(lease.id, lease.probe) for lease in taken.leases] == expected
        for lease in taken.leases:
            task = self.model.tasks[lease.id]
            task.lease = lease
            assert (lease.task.host, lease.task.priority) == (task.host, task.priority)
            history = lease.history
            assert (history.attempts, history.deaths, history.fetch_count) == (
                task.attempts,
                task.deaths,
                task.fetched,
            )
        self.leases[worker].extend(taken.leases)
        wait, blocked = self.model.outlook(lanes)
        outlook = (taken.wait_sec, taken.blocked)
        if taken.wait_sec == 0 and wanted:  # hosts of a domain whose turn has gone may still stand ready
            outlook = (self.workers[worker].take(0, lanes=lanes).wait_sec, taken.blocked)
        assert outlook[0] == (None if wait is None else wait / 1000)
        assert (
            outlook[1] == blocked or (outlook[0] == 0 and outlook[1] <= blocked) or outlook != (taken.wait_sec, blocked)
        )

    def pick(self, number):
        """A worker, one of its leases, and the task if the lease is still good."""
        every = [(worker, lease) for worker in (0, 1) for lease in self.leases[worker]]
        worker, lease = every[number % len(every)]
        task = self.model.tasks.get(lease.id)
        current = task is not None and task.lease is not None and task.lease.token == lease.token
        return self.workers[worker], lease, task if current else None

    def some_leased(self):
        return bool(self.leases[0] or self.leases[1])

    @precondition(some_leased)
    @rule(
        number=leases,
        status=st.sampled_from(["fetched", "dead", "pending"]),
        delay=delays,
        signal=st.none() | signals,
    )
    def done(self, number, status, delay, signal):
        worker, lease, task = self.pick(number)
        key = f"fc:{{0}}:committed:{lease.token}"
        ended = worker.done(lease, status=status, delay_sec=delay / 1000, signal=signal, commit=[["INCR", key]])
        assert ended == (self.model.done(task, status, delay, signal) if task else "lost")
        assert self.client.exists(key) == (task is not None)
        self.client.delete(key)

    @precondition(some_leased)
    @rule(
        number=leases,
        delay=delays,
        counted=st.booleans(),
        site_wide=st.booleans(),
        host=st.none() | st.none() | st.sampled_from(HOSTS),
    )
    def give_back(self, number, delay, counted, site_wide, host):
        worker, lease, task = self.pick(number)
        patch = {"host": host, "url": f"https://{host}/moved"} if host else None
        answer = worker.give_back(
            lease, reason="x", delay_sec=delay / 1000, counted=counted, site_wide=site_wide, patch=patch
        )
        assert answer == (self.model.give_back(task, delay, counted, site_wide, host) if task else "lost")

    @precondition(some_leased)
    @rule(number=leases, signal=signals)
    def release(self, number, signal):
        worker, lease, task = self.pick(number)
        expected = Released("lost", "lost", 0)
        if task:
            host = self.model.host(lease.task.host)
            states, wider = host.hear(signal, self.model.now)
            if task.slot:
                host.free(self.model.now)
            task.slot = False
            changes = (ScopeChange("domain", site_of(lease.task.host), *wider),) if wider[0] != wider[1] else ()
            expected = Released(*states, max(0, host.tat - self.model.now) / 1000, changes)
        assert worker.release(lease, signal) == expected

    @precondition(some_leased)
    @rule(number=leases)
    def turn(self, number):
        worker, lease, task = self.pick(number)
        at = self.model.host(lease.task.host).turn(self.model.now) if task else None
        assert worker.turn(lease) == (None if at is None else (at - self.model.now) / 1000)

    @rule(worker=st.integers(0, 1))
    def heartbeat(self, worker):
        current = {task.lease.token: task for task in self.model.leased()}
        lost = {lease.id for lease in self.leases[worker] if lease.token not in current}
        assert self.workers[worker].heartbeat(self.leases[worker]) == lost
        for lease in self.leases[worker]:
            if lease.token in current:
                current[lease.token].at = self.model.now + LEASE

    @rule(task_id=ids)
    def remove(self, task_id):
        task = self.model.tasks.pop(task_id, None)
        if task:
            self.model.drop(task)
        assert self.workers[1].remove(task_id) is (task is not None)

    @rule(worker=st.integers(0, 1))
    def crash(self, worker):
        self.leases[worker].clear()

    @rule(ms=st.sampled_from([0, 1, 500, 1_000, 30_000, 60_000, HOUR, DAY]))
    def time_passes(self, ms):
        self.raw += ms
        self.model.now += ms
        self.workers[0].heartbeat([Lease(self.task("feed0", 1), None, "0-none")])  # the server looks at its clock

    @rule(number=st.integers(0, 20), offset=st.sampled_from([-1, 0, 0, 0, 1]))
    def something_is_near(self, number, offset):
        """A lease's end, a host's turn or a task's time: rules go wrong at their edges."""
        moments = {task.at for task in self.model.tasks.values() if task.place in ("leased", "delayed")}
        moments |= {host.tat for host in self.model.hosts.values()}
        ahead = sorted(moment for moment in moments if moment + offset > self.model.now)
        if ahead:
            self.time_passes(ahead[number % len(ahead)] + offset - self.model.now)

    @rule(ms=st.sampled_from([1, 1_000, HOUR, 40 * DAY]))
    def clock_steps_back(self, ms):
        self.raw -= ms
        self.time_passes(0)

    @invariant()
    def each_task_is_in_one_place(self):
        places, states, busy = self.look()
        expected = {task.id: 1 for task in self.model.tasks.values() if task.pending}
        assert places == expected
        for name, host in self.model.hosts.items():
            assert busy.get(name, 0) == host.slots <= self.model.concurrency
        for (lane, name), sets in states.items():
            assert sets == 1, (lane, name)

    def look(self):
        """How often each task is queued, delayed or leased; in how many sets a host of a lane is; slots by host."""
        names = sorted(self.client.scan_iter(match="fc:{0}:*", count=1000))
        zsets = [n for n in names if n.startswith(("fc:{0}:q:", "fc:{0}:delayed:", "fc:{0}:leases", *SETS))]
        hosts = [n for n in names if n.startswith("fc:{0}:h:")]
        with self.client.pipeline(transaction=False) as pipe:
            for name in zsets:
                pipe.zrange(name, 0, -1)
            for name in hosts:
                pipe.hget(name, "busy")
            found = pipe.execute()
        places, states = Counter(), Counter()
        for name, members in zip(zsets, found, strict=False):
            if name.startswith(SETS):
                states.update((name.split(":")[3], member) for member in members)
            elif ":delayed:" in name:
                places.update(next(i for i in KINDS if member.endswith(i)) for member in members)
            else:
                places.update(members)
        slots = {
            name.removeprefix("fc:{0}:h:"): int(busy or 0)
            for name, busy in zip(hosts, found[len(zsets) :], strict=True)
        }
        return places, states, slots

    @invariant()
    def counts_are_the_models(self):
        counts = {name: number for name, number in self.workers[1].counts().items() if number}
        pending = Counter(f"pending:{task.kind}" for task in self.model.tasks.values() if task.pending)
        leased = {"leased": len(self.model.leased())} if self.model.leased() else {}
        assert counts == {**pending, **self.model.ended, **leased}

    @rule(task_id=ids)
    def find(self, task_id):
        found, task = self.workers[0].find(task_id), self.model.tasks.get(task_id)
        assert (found is None) == (task is None)
        if task:
            status = {"queued": "pending", "delayed": "pending", "leased": "fetching"}.get(task.place, task.place)
            known = found[1]
            expected = (status, task.attempts, task.deaths, task.quarantined)
            assert (known.status, known.attempts, known.deaths, known.quarantined) == expected
            assert found[0].host == task.host

    def teardown(self):
        """Both workers die; whoever comes next gets every task, and afterwards nothing is left."""
        if not hasattr(self, "model"):
            return
        self.crash(0)
        self.crash(1)
        for _ in range(400):
            if not any(task.pending for task in self.model.tasks.values()):
                break
            self.take(0, 5, LANES)
            for lease in self.leases[0]:
                task = self.model.tasks[lease.id]
                again = task.again_queued
                assert self.workers[0].done(lease) == self.model.done(task, "fetched", 0, None)
                assert task.pending == again
            self.crash(0)
            self.time_passes(min((t.at - self.model.now for t in self.model.leased()), default=HOUR))
            self.time_passes(1_000)
        assert not [task for task in self.model.tasks.values() if task.pending]
        assert self.workers[0].counts()["leased"] == 0 if self.model.tasks else True
        records = ("fc:{0}:t:", "fc:{0}:h:", "fc:{0}:d:", "fc:{0}:suspect:")
        left = {n for n in self.client.scan_iter() if not n.startswith(records)}
        names = {"clock", "counts", "token", "dlq", "late", "pushed_at"}
        if any(host.circuit.state != "closed" for host in self.model.hosts.values()):
            names.add("circuits")  # the hosts whose circuit a probe has yet to close
        assert left <= {f"fc:{{0}}:{name}" for name in names}


SETS = ("fc:{0}:ready:", "fc:{0}:waiting:", "fc:{0}:blocked:", "fc:{0}:parked:")


def test_workers_against_the_model(redis_client):
    run_state_machine_as_test(
        lambda: Workers(redis_client),
        settings=settings(
            max_examples=EXAMPLES or 5 * settings.default.max_examples // 2,
            stateful_step_count=50,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
