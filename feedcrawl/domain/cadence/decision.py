"""The decision when to poll a feed again, with its reasons.

The policy ("baseline" or "learned") proposes a wait; errors lengthen it; the publisher's hints are floors; jitter
spreads the load; a time inside a skip window moves to the window's end. Retry-After overrides all of these.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from feedcrawl.domain.cadence import baseline, learned
from feedcrawl.domain.cadence.floors import floors, retry_after, with_hints
from feedcrawl.domain.cadence.skip_windows import after_skip_window
from feedcrawl.domain.cadence.values import (
    DAY_SEC,
    CadencePolicy,
    Candidate,
    Decision,
    Observation,
    PollState,
    Proposal,
)

if TYPE_CHECKING:
    from datetime import datetime

POLICIES = {"baseline": baseline.propose, "learned": learned.propose}


def next_poll(state: PollState, seen: Observation, *, now: datetime, policy: CadencePolicy, jitter: float) -> Decision:
    """The time of the next poll after a poll at `now` (UTC) that showed `seen`, with the reason and every candidate.

    `jitter` in [-1, 1] is drawn by the caller; 0 means none. Jitter never moves a wait below a floor, outside the
    policy's limits or into a skip window. Retry-After on 429 and 503 is used unchanged: no floor, jitter or skip window
    applies. A failed poll does not change the learnt estimates, and back-off never shortens the interval.
    """
    wait = retry_after(seen)
    if wait is not None:
        return decided(failed(state), now, wait.wait_sec, wait.rule, (wait,))
    if seen.succeeded:
        proposal = POLICIES[policy.name](with_hints(state, seen), seen, now, policy)
    else:
        proposal = backed_off(failed(state), seen, policy)
    return decision_from(proposal, now, jitter)


def failed(state: PollState) -> PollState:
    """The state after one more failure in a row."""
    return replace(state, errors=state.errors + 1)


def backed_off(state: PollState, seen: Observation, policy: CadencePolicy) -> Proposal:
    """The wait after a failure: the interval doubled for each consecutive failure, up to a cap, and never shortened.

    The cap is `backoff_cap_sec` for 429 and 503, and a day for every other failure.
    """
    interval = policy.tempo * (policy.initial_interval_sec if state.interval_sec is None else state.interval_sec)
    cap = policy.backoff_cap_sec if seen.status in (429, 503) else DAY_SEC
    longest = max(interval, cap)
    # Larger exponents exceed any cap, and a thousand failures would overflow a float.
    wait = min(interval * policy.backoff_base ** min(state.errors, 64), longest)
    candidates = (Candidate("interval", interval), Candidate("error-backoff", wait))
    return Proposal(state, "error-backoff", wait, candidates, interval, longest, wait * policy.jitter_ratio)


def decision_from(proposal: Proposal, now: datetime, jitter: float) -> Decision:
    """The decision from a proposal, after the publisher's floors, jitter and skip windows."""
    hints = floors(proposal.state)
    floor = max(hints, key=lambda one: one.wait_sec, default=Candidate("", 0.0))
    reason, wait = proposal.reason, proposal.wait_sec
    candidates = proposal.candidates + hints
    if floor.wait_sec > wait:
        reason, wait = f"{reason}+{floor.rule}", floor.wait_sec
    drawn = shifted(proposal, wait, floor.wait_sec, jitter)
    if drawn != wait:
        candidates += (Candidate("jitter", drawn),)
    at = now + timedelta(seconds=drawn)
    open_at = after_skip_window(at, proposal.state.hints)
    if open_at != at:
        drawn = (open_at - now).total_seconds()
        reason, candidates = f"{proposal.reason}+skip-window", (*candidates, Candidate("skip-window", drawn))
    return decided(proposal.state, now, drawn, reason, candidates)


def shifted(proposal: Proposal, wait_sec: float, floor_sec: float, jitter: float) -> float:
    """The wait with jitter, inside the policy's limits and never below the publisher's floor."""
    draw = abs(jitter) if proposal.late_only else jitter
    moved = wait_sec + proposal.spread_sec * min(max(draw, -1.0), 1.0)
    within = min(max(moved, proposal.earliest_sec), max(proposal.latest_sec, wait_sec))
    return max(within, floor_sec)


def at_least(decision: Decision, floor: Candidate, now: datetime) -> Decision:
    """The decision with one more floor, given by the caller; the floor never shortens a wait."""
    candidates = (*decision.candidates, floor)
    if floor.wait_sec <= decision.interval_sec:
        return replace(decision, candidates=candidates)
    return decided(decision.state, now, floor.wait_sec, f"{decision.reason}+{floor.rule}", candidates)


def once_answered(decision: Decision, status: int | None) -> float | None:
    """The wait without back-off, which applies if the failing host responds before the back-off ends.

    None if the wait is no back-off, or if the host was not the cause: `status` is neither None (no response) nor 5xx.
    """
    if not decision.reason.startswith("error-backoff") or (status is not None and status < 500):
        return None
    wait = max(one.wait_sec for one in decision.candidates if one.rule not in ("error-backoff", "jitter"))
    return wait if wait < decision.interval_sec else None


def fixed(decision: Decision, rule: Candidate, now: datetime) -> Decision:
    """The decision with an operator's wait; the learnt estimates are still updated."""
    return decided(decision.state, now, rule.wait_sec, rule.rule, (*decision.candidates, rule))


def decided(
    state: PollState, now: datetime, wait_sec: float, reason: str, candidates: tuple[Candidate, ...]
) -> Decision:
    """A decision with the time of the next poll."""
    return Decision(state, wait_sec, now + timedelta(seconds=wait_sec), reason, candidates)
