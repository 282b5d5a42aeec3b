"""The model with which `signals.lua` is compared: the circuit of one host, which decides if the host is requested.

    closed ──5 failures in a row──▶ open ──its time is up──▶ half_open ──any answer──▶ closed
                                     ▲                          │
                                     └────────failure───────────┘  (a longer wait each time)

The signals are "ok" (a response: 2xx, 3xx, 4xx), "site" (the host fails: refused, no address, 502 …), "soft" (500,
time-outs, truncated bodies: the host may be failing), "throttled" (429: neither) and "due" (the wait of an open circuit
is over and the probe is sent). `TRANSITIONS` is a table of data, as in the script, and all stored values are integers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from feedcrawl.store.frontier.scripts import SCOPE_FAILURES, TOGETHER_MS

State = Literal["closed", "open", "half_open"]
Signal = Literal["ok", "site", "soft", "throttled", "due"]
Action = Literal["reset", "count", "trip", "probe", "keep"]

PROBE_WAITS_MS = (30_000, 60_000, 120_000, 240_000, 300_000)

TRANSITIONS: dict[tuple[State, Signal], Action] = {
    ("closed", "ok"): "reset",
    ("closed", "site"): "count",
    ("closed", "soft"): "count",
    ("closed", "throttled"): "keep",
    ("closed", "due"): "keep",
    # Answers of requests that were under way when the circuit opened. A failure among them is no news.
    ("open", "ok"): "reset",
    ("open", "site"): "keep",
    ("open", "soft"): "keep",
    ("open", "throttled"): "keep",
    ("open", "due"): "probe",
    # The probe's answer. Whatever is not a site-wide failure shows that the host is there, a 500 and a 429 too.
    ("half_open", "ok"): "reset",
    ("half_open", "site"): "trip",
    ("half_open", "soft"): "reset",
    ("half_open", "throttled"): "reset",
    ("half_open", "due"): "keep",
}
"""What each signal does in each state.

"reset" closes the circuit and forgets; "count" adds a failure and trips at the threshold; "trip" opens it, longer each
time; "probe" makes it half-open; "keep" changes nothing.
"""


@dataclass(frozen=True, slots=True)
class CircuitPolicy:
    """Failures in a row that open a circuit, and the waits before the first, second, … probe (the last one repeats)."""

    threshold: int = 5
    probe_waits_ms: tuple[int, ...] = PROBE_WAITS_MS


@dataclass(frozen=True, slots=True)
class CircuitState:
    """A host's circuit: failures in a row, how often in a row it opened, and until when (Unix ms) it stays open."""

    state: State = "closed"
    failures: int = 0
    opened: int = 0
    until_ms: int = 0


CLOSED = CircuitState()
DEFAULT = CircuitPolicy()


def step(circuit: CircuitState, signal: Signal, now_ms: int, policy: CircuitPolicy = DEFAULT) -> CircuitState:
    """The circuit after a signal at `now_ms` (Unix milliseconds)."""
    match TRANSITIONS[circuit.state, signal]:
        case "keep":
            return circuit
        case "reset":
            return CLOSED
        case "probe":
            return replace(circuit, state="half_open") if now_ms >= circuit.until_ms else circuit
        case "count" if circuit.failures + 1 < policy.threshold:
            return replace(circuit, failures=circuit.failures + 1)
        case "count" | "trip":
            return tripped(circuit, now_ms, policy)


def tripped(circuit: CircuitState, now_ms: int, policy: CircuitPolicy) -> CircuitState:
    """An open circuit, with one more failure and the next longer wait."""
    wait = policy.probe_waits_ms[min(circuit.opened, len(policy.probe_waits_ms) - 1)]
    return CircuitState("open", circuit.failures + 1, circuit.opened + 1, now_ms + wait)


@dataclass(frozen=True, slots=True)
class DomainCircuit:
    """The circuit of a registered domain: its failures are hosts, counted since one of them answered.

    `failed_at_ms` is when the last of them began to fail.
    """

    circuit: CircuitState = CLOSED
    failed_at_ms: int = 0


DOMAIN = CircuitPolicy(threshold=SCOPE_FAILURES)


def widened(
    domain: DomainCircuit, signal: Signal, now_ms: int, *, blamed: bool, policy: CircuitPolicy = DOMAIN
) -> tuple[DomainCircuit, bool]:
    """The domain's circuit after a signal of one of its hosts, and whether that host has been counted against it.

    Only a host that fails as a site counts, and once until it answers again (`blamed`); hosts that began to fail longer
    apart than `TOGETHER_MS` did not fail together. An answer of any host closes; so the probe of any host decides.
    """
    circuit = domain.circuit
    blames = signal == "site" and circuit.state == "closed" and not blamed
    if not blames and signal != "ok" and circuit.state != "half_open":
        return domain, blamed
    if not blames:
        return DomainCircuit(step(circuit, signal, now_ms, policy), domain.failed_at_ms), blamed and signal != "ok"
    if now_ms - domain.failed_at_ms > TOGETHER_MS:
        circuit = CLOSED
    return DomainCircuit(step(circuit, signal, now_ms, policy), now_ms), True
