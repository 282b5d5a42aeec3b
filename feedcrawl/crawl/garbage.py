"""Garbage of a worker: objects in cycles, and cancelled calls of Twisted's reactor."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Final

from twisted.internet.task import LoopingCall

if TYPE_CHECKING:
    from twisted.internet.interfaces import IReactorTime

COLLECT_AFTER = (30_000, 3, 60)
"""Thresholds of `gc.set_threshold`: new objects, then collections until the next older generation is collected.

A collection visits what the requests in progress keep alive, some 40 000 objects: at 10 000 new ones there were eleven
for 2 000 polls, the longest of 29 ms, at 30 000 two, of 22 ms.
"""


def collect_less() -> None:
    """Exempt the program's own objects from garbage collection, and collect less often.

    A full collection visits every object: 100 ms in which the event loop stands still, and altogether a quarter of a
    poll's processor time. The objects that a crawl creates are mostly freed by reference counting. The middle
    generation has few collections of the youngest to visit, as its own collections are the longest pauses.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)


SWEEP_SEC: Final = 5
"""Interval of a sweep of cancelled calls."""


def sweep_of(reactor: IReactorTime) -> LoopingCall:
    """An empty call to be started every SWEEP_SEC: the reactor drops cancelled calls only when some call is due.

    Each request cancels the call of its time limit, and the next request of a connection the call that would have
    closed the idle connection after four minutes. Without a sweep 500 polls a second kept 35 000 cancelled calls, 10 to
    20 MB of a worker's memory.
    """
    sweep = LoopingCall(_nothing)
    sweep.clock = reactor
    return sweep


def _nothing() -> None:
    """The empty call of a sweep."""
