"""The rules of pace and circuit stand twice, in Python and in Lua: here they answer the same signals side by side."""

from dataclasses import replace
from itertools import count

import pytest
import redis
from hypothesis import example, given, settings
from hypothesis import strategies as st

from feedcrawl.domain import pacing
from feedcrawl.domain.circuit import CLOSED, CircuitPolicy, step
from feedcrawl.domain.tasks import Task
from feedcrawl.store.frontier import Frontier, FrontierPolicy, Released

START_MS = 1_764_286_185_000
SIGNALS = ("ok", "answered", "site", "soft", "throttled", "none")
hosts = (f"h{number}.example" for number in count())


@pytest.fixture(scope="module")
def client(redis_server):
    with redis.Redis.from_url(redis_server, decode_responses=True) as found:
        yield found


class Twin:
    """One host by the Python rules."""

    def __init__(self, delay, concurrency, failures):
        self.delay, self.concurrency, self.policy = delay, concurrency, CircuitPolicy(threshold=failures)
        self.pace, self.circuit, self.tat, self.busy = pacing.Pace(), CLOSED, 0, 0

    def effective(self):
        return pacing.effective_delay(self.pace, self.delay)

    def may_take(self, now):
        allowed = self.concurrency if self.circuit.state == "closed" else 1
        return self.busy < allowed and self.tat <= now

    def take(self, now):
        self.circuit = step(self.circuit, "due", now, self.policy)
        _, self.tat = pacing.reserve(self.tat, now, self.effective())
        self.busy += 1
        return self.circuit.state == "half_open"

    def turn(self, now):
        if self.concurrency == 1:
            self.tat = pacing.hold(self.tat, now, self.effective())
        at, self.tat = pacing.reserve(self.tat, now, self.effective())
        return (at - now) / 1000

    def release(self, now, signal, wait):
        before, pauses = self.circuit, [wait or 0]
        if signal != "none":
            self.circuit = step(self.circuit, "ok" if signal == "answered" else signal, now, self.policy)
        if self.circuit.opened > before.opened:
            pauses.append(self.circuit.until_ms - now)
        if signal == "throttled":
            pauses = [pacing.pause_ms(self.pace, wait)]
            self.pace = pacing.throttled(self.pace)
        elif signal == "ok":
            self.pace = pacing.answered(self.pace)
        self.tat = pacing.hold(self.tat, now, min(max(pauses), pacing.MAX_RETRY_AFTER_MS)) if any(pauses) else self.tat
        self.busy -= 1
        if self.concurrency == 1:
            self.tat = pacing.hold(self.tat, now, self.effective())
        return Released(before.state, self.circuit.state, max(0, self.tat - now) / 1000)


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


@settings(max_examples=120)
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
def test_both_answer_alike(client, delay, concurrency, failures, script):
    host, now, leases = next(hosts), START_MS, []
    client.flushall()
    policy = replace(
        FrontierPolicy(), host_delay_sec=delay / 1000, host_concurrency=concurrency, circuit_failures=failures
    )
    frontier = Frontier(client, replace(policy, lease_sec=10**9), clock=lambda: now)
    frontier.push(Task(f"a{number}", "article", f"http://{host}/{number}", host) for number in range(len(script)))
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
            told = frontier.release(leases.pop(0), signal, wait_sec=None if wait is None else wait / 1000)
            assert told == twin.release(now, signal, wait)
        assert state_of(client, host) == (
            twin.pace,
            twin.circuit.state,
            twin.circuit.failures,
            twin.circuit.opened,
            twin.tat,
        )


def state_of(client, host):
    found = client.hgetall(f"fc:{{0}}:h:{host}")
    number = {name: int(float(found.get(name, 0))) for name in (*NUMBERS, "next_at")}
    pace = pacing.Pace(number["doublings"], number["good"], number["refusals"])
    return pace, found.get("state", "closed"), number["failures"], number["opened"], number["next_at"]


NUMBERS = ("doublings", "good", "refusals", "failures", "opened")


@settings(max_examples=50)
@given(waits=st.lists(st.integers(1, 900), min_size=1, max_size=6, unique=True), failures=st.integers(1, 8))
def test_the_waits_of_an_open_circuit_are_the_policys(client, waits, failures):
    host, now = next(hosts), START_MS
    client.flushall()
    policy = FrontierPolicy(host_delay_sec=0, circuit_failures=failures, circuit_waits_sec=tuple(map(float, waits)))
    frontier = Frontier(client, policy, clock=lambda: now)
    frontier.push(Task(f"a{number}", "article", f"http://{host}/{number}", host) for number in range(20))
    circuit, circuit_policy = CLOSED, CircuitPolicy(failures, tuple(1000 * wait for wait in waits))
    for _ in range(failures + 4):
        (lease,) = frontier.take(1).leases
        circuit = step(step(circuit, "due", now, circuit_policy), "site", now, circuit_policy)
        released = frontier.release(lease, "site")
        assert released.after == circuit.state
        assert released.wait_sec * 1000 == (circuit.until_ms - now if circuit.state == "open" else 0)
        frontier.done(lease)
        now += round(released.wait_sec * 1000)
