from itertools import product

import pytest
from host_circuit import (
    CLOSED,
    TRANSITIONS,
    CircuitPolicy,
    CircuitState,
    DomainCircuit,
    step,
    widened,
)
from hypothesis import given
from hypothesis import strategies as st

STATES = ("closed", "open", "half_open")
SIGNALS = ("ok", "site", "soft", "throttled", "due")
OPEN = CircuitState("open", 5, 1, 30_000)
PROBING = CircuitState("half_open", 5, 1, 30_000)


def run(circuit, *signals, now=0):
    for signal in signals:
        circuit = step(circuit, signal, now)
    return circuit


def test_the_table_is_complete():
    assert set(TRANSITIONS) == set(product(STATES, SIGNALS))


@pytest.mark.parametrize(
    ("circuit", "signal", "expected"),
    [
        (CLOSED, "ok", CLOSED),
        (CLOSED, "site", CircuitState("closed", 1)),
        (CLOSED, "soft", CircuitState("closed", 1)),
        (CLOSED, "throttled", CLOSED),
        (CLOSED, "due", CLOSED),
        (CircuitState("closed", 4), "ok", CLOSED),
        (CircuitState("closed", 4), "throttled", CircuitState("closed", 4)),
        (CircuitState("closed", 4), "site", CircuitState("open", 5, 1, 130_000)),
        (CircuitState("closed", 4), "soft", CircuitState("open", 5, 1, 130_000)),
        (OPEN, "ok", CLOSED),
        (OPEN, "site", OPEN),
        (OPEN, "soft", OPEN),
        (OPEN, "throttled", OPEN),
        (OPEN, "due", PROBING),
        (CircuitState("open", 5, 1, 100_001), "due", CircuitState("open", 5, 1, 100_001)),
        (PROBING, "ok", CLOSED),
        (PROBING, "soft", CLOSED),
        (PROBING, "throttled", CLOSED),
        (PROBING, "due", PROBING),
        (PROBING, "site", CircuitState("open", 6, 2, 160_000)),
    ],
)
def test_steps(circuit, signal, expected):
    assert step(circuit, signal, 100_000) == expected


def test_five_failures_in_a_row_open_a_circuit_and_a_success_starts_anew():
    assert run(CLOSED, *["site"] * 4).state == "closed"
    assert run(CLOSED, "site", "soft", "throttled", "site", "soft", "site").state == "open"
    assert run(CLOSED, *["site"] * 4, "ok", *["site"] * 4).state == "closed"


def test_the_waits_of_an_outage():
    circuit, now, waits = run(CLOSED, *["site"] * 5), 0, []
    for _ in range(8):
        waits.append((circuit.until_ms - now) / 1_000)
        now = circuit.until_ms
        circuit = step(step(circuit, "due", now), "site", now)
    assert waits == [30, 60, 120, 240, 300, 300, 300, 300]
    assert run(circuit, "ok", *["site"] * 5).until_ms == 30_000, "it was forgotten"


def test_limits_of_the_circuit_are_settings():
    policy = CircuitPolicy(threshold=1, probe_waits_ms=(7,))
    assert step(CLOSED, "site", 0, policy) == CircuitState("open", 1, 1, 7)


@given(st.lists(st.tuples(st.sampled_from(SIGNALS), st.integers(0, 100_000)), max_size=60))
def test_any_sequence_of_signals_keeps_the_circuit_consistent(events):
    circuit, now = CLOSED, 0
    for signal, passed in events:
        now += passed
        circuit = step(circuit, signal, now)
        assert (circuit.state == "closed") == (circuit.failures < 5)
        assert (circuit.opened > 0) == (circuit.state != "closed")
        assert circuit.until_ms <= now + 300_000
    assert step(circuit, "ok", now) == CLOSED


NOW = 10_000_000
TWO = CircuitState("closed", 2)
WIDE = CircuitState("open", 3, 1, NOW + 30_000)
PROBED = CircuitState("half_open", 3, 1, NOW)


@pytest.mark.parametrize(
    ("circuit", "signal", "blamed", "expected"),
    [
        (CLOSED, "site", False, (CircuitState("closed", 1), True)),
        (CLOSED, "site", True, (CLOSED, True)),
        (CLOSED, "soft", False, (CLOSED, False)),
        (CLOSED, "throttled", False, (CLOSED, False)),
        (TWO, "site", False, (WIDE, True)),
        (TWO, "site", True, (TWO, True)),
        (TWO, "soft", False, (TWO, False)),
        (TWO, "ok", True, (CLOSED, False)),
        (WIDE, "site", False, (WIDE, False)),
        (WIDE, "ok", False, (CLOSED, False)),
        (PROBED, "site", True, (CircuitState("open", 4, 2, NOW + 60_000), True)),
        (PROBED, "site", False, (CircuitState("open", 4, 2, NOW + 60_000), False)),
        (PROBED, "soft", True, (CLOSED, True)),
        (PROBED, "ok", True, (CLOSED, False)),
    ],
)
def test_the_signal_of_a_host_counts_for_its_domain(circuit, signal, blamed, expected):
    domain, blamed = widened(DomainCircuit(circuit, NOW - 1), signal, NOW, blamed=blamed)
    assert (domain.circuit, blamed) == expected


@pytest.mark.parametrize(("apart_ms", "opens"), [(600_000, True), (600_001, False)])
def test_hosts_that_begin_to_fail_long_after_each_other_do_not_fail_together(apart_ms, opens):
    domain, now = DomainCircuit(), NOW
    for _ in range(3):
        now += apart_ms
        domain, _ = widened(domain, "site", now, blamed=False)
    assert (domain.circuit.state == "open") is opens
    assert domain.failed_at_ms == now
