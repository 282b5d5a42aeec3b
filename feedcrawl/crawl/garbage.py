"""Garbage collection of a worker."""

from __future__ import annotations

import gc

COLLECT_AFTER = (10_000, 3, 60)
"""Thresholds of `gc.set_threshold`: new objects, then collections until the next older generation is collected."""


def collect_less() -> None:
    """Exempt the program's own objects from garbage collection, and collect less often.

    A full collection visits every object: 100 ms in which the event loop stands still, and altogether a quarter of a
    poll's processor time. The objects that a crawl creates are mostly freed by reference counting. The middle
    generation has few collections of the youngest to visit, as its own collections are the longest pauses.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
