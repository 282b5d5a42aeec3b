"""The cheapest plan of polls for the time ahead.

A plan costs its polls, plus the delay of each expected arrival until the poll that follows.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def first_poll(moments: Sequence[float], weights: Sequence[float], price: float) -> int:
    """Index of the first poll of the cheapest plan, by dynamic programming from the last moment.

    `moments` are the times at which polls are possible (ascending, in seconds), `weights` the arrivals expected at each
    of them. The last moment of a plan is a poll.
    """
    gaps = [0.0, *[later - earlier for earlier, later in pairwise(moments)]]
    costs, poll_at = [0.0] * (len(moments) + 1), len(moments) - 1
    for first in range(len(moments) - 1, -1, -1):
        best, at, cost, waiting = price + costs[first + 1], first, price, weights[first]
        for last in range(first + 1, poll_at + 1):  # a plan that begins earlier does not poll later
            cost += waiting * gaps[last]
            if cost > best:
                break
            total = cost + costs[last + 1]
            if total < best:
                best, at = total, last
            waiting += weights[last]
        costs[first], poll_at = best, at
    return poll_at
