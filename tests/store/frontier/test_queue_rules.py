"""The rules of pace and circuit stand twice, in Python and in Lua: here they answer the same signals side by side."""

import json
import re
from dataclasses import replace
from itertools import count

import host_pace as pacing
import pytest
import redis
from host_circuit import CLOSED, CircuitPolicy, DomainCircuit, step, widened
from hypothesis import example, given
from hypothesis import strategies as st

from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy, ScopePace

START_MS = 1_764_286_185_000
SIGNALS = ("ok", "answered", "site", "soft", "throttled", "none")
hosts = (f"h{number}.example" for number in count())


@pytest.fixture(scope="module")
def client(redis_server):
    with redis.Redis.from_url(redis_server, decode_responses=True) as found:
        yield found


class Domain:
    """A registered domain by the Python rules. Without a configured delay it makes no host slower."""

    def __init__(self, delay, concurrency, *, configured):
        self.delay, self.concurrency, self.configured = delay, concurrency, configured
        self.wide, self.tat, self.busy = DomainCircuit(), 0, 0

    @property
    def circuit(self):
        return self.wide.circuit

    def effective(self, host_delay):
        return self.delay if self.configured else min(self.delay, host_delay)

    def may_take(self, now):
        return self.busy < (self.concurrency if self.circuit.state == "closed" else 1) and self.tat <= now

    def take(self, now):
        self.wide = replace(self.wide, circuit=step(self.circuit, "due", now))
        self.busy += 1
        return self.circuit.state == "half_open"

    def rest(self, now, host_delay):
        if self.concurrency == 1:
            self.tat = pacing.paused(self.tat, now, self.effective(host_delay))

    def hear(self, signal, now, *, blamed):
        before = self.circuit
        self.wide, blamed = widened(self.wide, signal, now, blamed=blamed)
        if self.circuit.opened > before.opened:
            self.tat = pacing.paused(self.tat, now, self.circuit.until_ms - now)
        if before.state != "closed" and self.circuit.state == "closed":
            self.tat = min(self.tat, now + self.delay)
        return blamed


class Twin:
    """One host by the Python rules."""

    def __init__(self, delay, concurrency, failures, domain=None):
        self.delay, self.concurrency, self.policy = delay, concurrency, CircuitPolicy(threshold=failures)
        self.pace, self.circuit, self.tat, self.busy = pacing.Pace(), CLOSED, 0, 0
        self.domain, self.blamed = domain or Domain(delay, 10**6, configured=False), False

    def effective(self):
        return pacing.effective_delay(self.pace, self.delay)

    def may_take(self, now):
        allowed = self.concurrency if self.circuit.state == "closed" else 1
        return self.busy < allowed and self.tat <= now and self.domain.may_take(now)

    def reserve(self, now):
        delays = self.effective(), self.domain.effective(self.effective())
        at, (self.tat, self.domain.tat) = pacing.reserve_with_domain((self.tat, self.domain.tat), now, delays)
        return at

    def take(self, now):
        self.circuit = step(self.circuit, "due", now, self.policy)
        self.reserve(now)
        self.busy += 1
        return self.domain.take(now) or self.circuit.state == "half_open"

    def rest(self, now):
        if self.concurrency == 1:
            self.tat = pacing.paused(self.tat, now, self.effective())
        self.domain.rest(now, self.effective())

    def turn(self, now):
        self.rest(now)
        return (self.reserve(now) - now) / 1000

    def release(self, now, signal, wait):
        before, wider, pauses = self.circuit, self.domain.circuit, [wait or 0]
        heard = "ok" if signal == "answered" else signal
        if signal != "none":
            self.circuit = step(self.circuit, heard, now, self.policy)
        if self.circuit.opened > before.opened:
            pauses.append(self.circuit.until_ms - now)
        if signal == "throttled":
            pauses = [pacing.pause_ms(self.pace, wait)]
            self.pace = pacing.throttled(self.pace)
        elif signal == "ok":
            self.pace = pacing.answered(self.pace)
        if signal != "none":
            self.blamed = self.domain.hear(heard, now, blamed=self.blamed)
        if any(pauses):
            self.tat = pacing.paused(self.tat, now, min(max(pauses), pacing.MAX_RETRY_AFTER_MS))
        self.busy -= 1
        self.domain.busy -= 1
        self.rest(now)
        states = (before.state, self.circuit.state, max(0, self.tat - now) / 1000)
        changed = wider.state != self.domain.circuit.state
        return (*states, [(wider.state, self.domain.circuit.state)] if changed else [])


def states(released):
    """The states of a host's circuit, its next turn, and how the circuits of its scopes changed."""
    changes = [(change.before, change.after) for change in released.scopes]
    return released.before, released.after, released.wait_sec, changes


waits = st.none() | st.sampled_from([0, 1, 999, 1000, 29_999, 120_000, 3_600_000, 86_400_000, 90_000_000])
steps = st.lists(
    st.tuples(
        st.sampled_from(["take", "take", "turn", "release", "release", "release"]),
        st.sampled_from(["when due", "too soon", "later"]),
        st.sampled_from(SIGNALS),
        waits,
    ),
    max_size=40,
)
TAKE = ("take", "when due", "ok", None)


def rounds(times, signal, wait=None):
    return [TAKE, ("release", "later", signal, wait)] * times


@given(
    delay=st.sampled_from([0, 1, 1000, 7000, 60_000, 120_000, 200_000]),
    concurrency=st.integers(1, 4),
    failures=st.integers(1, 5),
    script=steps,
)
@example(1000, 1, 5, rounds(12, "throttled"))
@example(1000, 1, 5, rounds(12, "site"))
@example(1000, 1, 5, rounds(3, "throttled", 1) + rounds(35, "ok"))
@example(1000, 2, 1, [TAKE, TAKE, ("release", "later", "site", None), ("release", "later", "ok", None)])
def test_lua_and_model_agree(client, delay, concurrency, failures, script):
    host, now, leases = next(hosts), START_MS, []
    client.flushall()
    policy = replace(
        FrontierPolicy(), host_delay_sec=delay / 1000, host_concurrency=concurrency, circuit_failures=failures
    )
    frontier = Shard(client, replace(policy, lease_sec=10**9), clock=lambda: now)
    frontier.enqueue(Task(f"a{number}", "article", f"http://{host}/{number}", host) for number in range(len(script)))
    twin = Twin(delay, concurrency, failures)
    for action, when, signal, wait in script:
        now = {"when due": max(now, twin.tat), "too soon": max(now, twin.tat - 1), "later": now + 700}[when]
        if action == "take":
            may = twin.may_take(now)
            taken = frontier.take(1).leases
            assert len(taken) == may
            leases += taken
            if may:
                assert taken[0].probe == twin.take(now)
        elif action == "turn" and leases:
            assert frontier.turn(leases[0]) == twin.turn(now)
        elif action == "release" and leases:
            released = frontier.release(leases.pop(0), signal, wait_sec=None if wait is None else wait / 1000)
            assert states(released) == twin.release(now, signal, wait)
        assert state_of(client, host) == (
            twin.pace,
            twin.circuit.state,
            twin.circuit.failures,
            twin.circuit.opened,
            twin.tat,
        )


together = st.lists(
    st.tuples(
        st.sampled_from(["take", "take", "take", "turn", "release", "release", "release"]),
        st.integers(0, 3),
        st.sampled_from(["when due", "too soon", "later", "much later"]),
        st.sampled_from(("site", *SIGNALS)),
    ),
    max_size=60,
)
FAILING = [(action, number, "when due", "site") for number in range(3) for action in ("take", "release")]


@given(
    delays=st.tuples(st.sampled_from([0, 1000, 7000]), st.sampled_from([None, 0, 250, 5000])),
    concurrency=st.tuples(st.integers(1, 2), st.sampled_from([None, 1, 2, 3])),
    failures=st.integers(1, 5),
    script=together,
)
@example((1000, None), (1, None), 5, FAILING * 3)
@example((1000, 5000), (2, 1), 5, [*FAILING, ("take", 0, "when due", "ok"), ("release", 0, "when due", "ok")] * 2)
@example((0, 250), (1, 1), 2, [*FAILING[:4], ("take", 0, "much later", "ok"), *FAILING])
def test_the_hosts_of_a_domain_share_its_pace_and_its_circuit(client, delays, concurrency, failures, script):
    site, now, leases = next(hosts), START_MS, []
    client.flushall()
    policy = FrontierPolicy(
        host_delay_sec=delays[0] / 1000,
        host_concurrency=concurrency[0],
        scopes={"domain": ScopePace(None if delays[1] is None else delays[1] / 1000, concurrency[1])},
        circuit_failures=failures,
        lease_sec=10**9,
    )
    frontier = Shard(client, policy, clock=lambda: now)
    names = [f"{letter}.{site}" for letter in "abcd"]
    for host in names:
        frontier.enqueue(Task(f"{host}{n}", "article", f"http://{host}/{n}", host) for n in range(len(script)))
    domain = Domain(
        delays[0] // 4 if delays[1] is None else delays[1],
        4 * concurrency[0] if concurrency[1] is None else concurrency[1],
        configured=delays[1] is not None,
    )
    twins = {host: Twin(delays[0], concurrency[0], failures, domain) for host in names}
    for action, number, when, signal in script:
        due = max(now, twins[names[number]].tat, domain.tat)
        now = {"when due": due, "too soon": max(now, due - 1), "later": now + 700, "much later": now + 700_000}[when]
        if action == "take":
            may = [host for host in names if twins[host].may_take(now)]
            taken = frontier.take(1)
            assert [lease.task.host for lease in taken.leases] == may[:1]
            leases += taken.leases
            if may:
                assert taken.leases[0].probe == twins[may[0]].take(now)
        elif action == "turn" and leases:
            assert frontier.turn(leases[0]) == twins[leases[0].task.host].turn(now)
        elif action == "release" and leases:
            lease = leases.pop(number % len(leases))
            assert states(frontier.release(lease, signal)) == twins[lease.task.host].release(now, signal, None)
        assert domain_state(client, site) == (domain.circuit.state, domain.circuit.failures, domain.tat, domain.busy)


def domain_state(client, site):
    text = client.get(f"fc:{{0}}:d:{site}") or "{}"
    plain = re.fullmatch(r"(?P<next_at>\d+) (?P<busy>\d+)", text)
    found = {name: int(value) for name, value in plain.groupdict().items()} if plain else json.loads(text)
    numbers = [found.get(name, 0) for name in ("failures", "next_at", "busy")]
    return (found.get("state", "closed"), *numbers)


def state_of(client, host):
    found = client.hgetall(f"fc:{{0}}:h:{host}")
    number = {name: int(float(found.get(name, 0))) for name in (*NUMBERS, "next_at")}
    pace = pacing.Pace(number["doublings"], number["good"], number["refusals"])
    return pace, found.get("state", "closed"), number["failures"], number["opened"], number["next_at"]


NUMBERS = ("doublings", "good", "refusals", "failures", "opened")


@given(waits=st.lists(st.integers(1, 900), min_size=1, max_size=6, unique=True), failures=st.integers(1, 8))
def test_the_waits_of_an_open_circuit_are_the_policys(client, waits, failures):
    host, now = next(hosts), START_MS
    client.flushall()
    policy = FrontierPolicy(host_delay_sec=0, circuit_failures=failures, circuit_waits_sec=tuple(map(float, waits)))
    frontier = Shard(client, policy, clock=lambda: now)
    frontier.enqueue(Task(f"a{number}", "article", f"http://{host}/{number}", host) for number in range(20))
    circuit, circuit_policy = CLOSED, CircuitPolicy(failures, tuple(1000 * wait for wait in waits))
    for _ in range(failures + 4):
        (lease,) = frontier.take(1).leases
        circuit = step(step(circuit, "due", now, circuit_policy), "site", now, circuit_policy)
        released = frontier.release(lease, "site")
        assert released.after == circuit.state
        assert released.wait_sec * 1000 == (circuit.until_ms - now if circuit.state == "open" else 0)
        frontier.done(lease)
        now += round(released.wait_sec * 1000)
