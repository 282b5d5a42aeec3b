"""The baseline policy: multiplicative steps, blended with an average of the gaps between entries.

The interval shrinks after a poll with new entries and grows after a poll without. It is then moved towards the
exponentially weighted mean of the last gaps between publication times, and kept within the policy's limits.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from feedcrawl.domain.cadence.values import Candidate, Proposal

if TYPE_CHECKING:
    from datetime import datetime

    from feedcrawl.domain.cadence.values import CadencePolicy, Observation, PollState

RECENT_ENTRIES = 20


def propose(state: PollState, seen: Observation, now: datetime, policy: CadencePolicy) -> Proposal:
    """The interval after a successful poll."""
    learned = observe(state, seen, now, policy.ewma_alpha)
    before = policy.initial_interval_sec if state.interval_sec is None else state.interval_sec
    reason, factor = step(seen, policy)
    stepped = bounded(before * factor, policy)
    interval, candidates = stepped, [Candidate("interval", before), Candidate(reason, stepped)]
    if learned.ewma_sec:  # 0: all entries have one date (an import), which gives no cadence
        target = bounded(learned.ewma_sec, policy)
        interval = bounded(policy.blend_lambda * target + (1 - policy.blend_lambda) * stepped, policy)
        candidates += [Candidate("ewma", target), Candidate("blend", interval)]
    wait = interval * policy.tempo
    if policy.tempo != 1.0:
        candidates.append(Candidate("tempo", wait))
    return Proposal(
        replace(learned, interval_sec=interval),
        reason,
        wait,
        tuple(candidates),
        earliest_sec=policy.min_interval_sec * policy.tempo,
        latest_sec=policy.max_interval_sec * policy.tempo,
        spread_sec=wait * policy.jitter_ratio,
    )


def step(seen: Observation, policy: CadencePolicy) -> tuple[str, float]:
    """The event of this poll, and the factor by which the event changes the interval."""
    if seen.status == 304:
        return "not-modified", policy.up_factor
    if seen.new_entries > 0:
        return "new-entries", policy.down_factor
    return "no-new-entries", policy.up_factor


def observe(state: PollState, seen: Observation, now: datetime, alpha: float) -> PollState:
    """The state with an updated mean gap between entries, if the poll brought new entries.

    The gaps are those between the newest 20 dates of the document, future dates left out. With fewer than two dates the
    arrival times of the new entries are used instead.
    """
    if not seen.new_entries:
        return state
    dates = sorted(date.timestamp() for date in seen.published if date <= now)[-RECENT_ENTRIES:]
    arrived = max((time.timestamp() for time in seen.first_seen if time <= now), default=now.timestamp())
    if len(dates) > 1:
        return replace(state, ewma_sec=mean_gap(dates, alpha), last_arrival=arrived)
    if state.last_arrival is None:
        return replace(state, last_arrival=arrived)
    gap = max(arrived - state.last_arrival, 0.0) / seen.new_entries
    keep = (1 - alpha) ** seen.new_entries
    average = gap if state.ewma_sec is None else keep * state.ewma_sec + (1 - keep) * gap
    return replace(state, ewma_sec=average, last_arrival=arrived)


def mean_gap(dates: list[float], alpha: float) -> float:
    """Exponentially weighted mean of the gaps between sorted times, in seconds; the newest gap weighs most."""
    gaps = [later - earlier for earlier, later in pairwise(dates)]
    average = gaps[0]
    for gap in gaps[1:]:
        average += alpha * (gap - average)
    return average


def bounded(interval_sec: float, policy: CadencePolicy) -> float:
    """The interval, limited to the policy's range."""
    return min(max(interval_sec, policy.min_interval_sec), policy.max_interval_sec)
