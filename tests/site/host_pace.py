"""The model with which `slots.lua` and `signals.lua` are compared: the delay between two requests to one host.

A virtual scheduling rule (GCRA) over integer milliseconds. One number is stored per host, its theoretical arrival time
(TAT): the earliest moment of the next request. Only integers, no rounding, no clock.

    reserve     allowed_at = max(tat, now);  new tat = allowed_at + delay
    with domain allowed_at = max(host's tat, domain's tat, now);  each new tat = allowed_at + its delay
    paused      new tat = max(tat, now + pause)
    effective   min(delay << doublings, max(delay, 120 000))
    429         doublings = min(doublings + 1, 7);  good = 0;  refusals = refusals + 1
    good answer refusals = 0;  if doublings > 0: good = good + 1, and at 10: doublings = doublings - 1, good = 0
    pause       Retry-After up to 86 400 000; without one min(30 000 << min(refusals, 7), 3 600 000),
                `refusals` being those before this one
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from feedcrawl.domain.frontier import delays

MAX_DOUBLINGS = 7
GOOD_ANSWERS = 10
FIRST_PAUSE_MS = 30_000
MAX_PAUSE_MS = 3_600_000
MAX_RETRY_AFTER_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Pace:
    """What a host's answers have made of its delay.

    `doublings` how often the delay stands doubled, `good` answers since that last changed, `refusals` 429s in a row.
    """

    doublings: int = 0
    good: int = 0
    refusals: int = 0


def reserve(tat: int, now: int, delay: int) -> tuple[int, int]:
    """When the next request may go out, and the TAT that it leaves behind; all in milliseconds."""
    allowed_at = max(tat, now)
    return allowed_at, allowed_at + delay


def reserve_with_domain(tats: tuple[int, int], now: int, delays: tuple[int, int]) -> tuple[int, tuple[int, int]]:
    """As `reserve`, of a host and its registered domain: a turn is one of both."""
    allowed_at = max(*tats, now)
    return allowed_at, (allowed_at + delays[0], allowed_at + delays[1])


def paused(tat: int, now: int, pause: int) -> int:
    """The TAT of a host that must be left alone for `pause` milliseconds; a later one stands."""
    return max(tat, now + pause)


def effective_delay(pace: Pace, delay: int) -> int:
    """The delay in milliseconds with its doublings, as the dashboard shows it too."""
    return delays.effective_delay_ms(delay, pace.doublings)


def throttled(pace: Pace) -> Pace:
    """The pace after a 429: the delay doubles."""
    return Pace(min(pace.doublings + 1, MAX_DOUBLINGS), 0, pace.refusals + 1)


def answered(pace: Pace) -> Pace:
    """The pace after a good answer (2xx, 3xx): each ten of them halve a doubled delay."""
    if not pace.doublings:
        return replace(pace, refusals=0)
    if pace.good + 1 < GOOD_ANSWERS:
        return Pace(pace.doublings, pace.good + 1)
    return Pace(pace.doublings - 1)


def pause_ms(pace: Pace, retry_after_ms: int | None) -> int:
    """How long a 429 keeps the host waiting: Retry-After up to a day, else 30 s doubled for each 429 before it.

    `pace` is the host's before this answer.
    """
    if retry_after_ms is not None and retry_after_ms > 0:
        return min(retry_after_ms, MAX_RETRY_AFTER_MS)
    return min(FIRST_PAUSE_MS << min(pace.refusals, MAX_DOUBLINGS), MAX_PAUSE_MS)
