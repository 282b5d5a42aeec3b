"""Rate limits per caller. Each process of the API counts for itself, which spares Redis the requests."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from threading import Lock
from typing import Final

from feedcrawl.api.access import SAFE_METHODS
from feedcrawl.api.problems import RetryLater
from feedcrawl.domain.operations.token_bucket import admit

CALLERS: Final = 10_000
"""Callers whose requests are counted; beyond that the callers that were silent longest are dropped."""


class Rates:
    """Requests of each token and address; those that change data are also counted separately. Thread-safe."""

    def __init__(self, per_minute: float, writes_per_minute: float) -> None:
        self._limits = {"all": per_minute, "writes": writes_per_minute}
        self._tats: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._lock = Lock()

    def count(self, caller: str, method: str) -> None:
        """Counts a request; RetryLater (`too_many_requests`) over the rate."""
        kinds = ("all",) if method in SAFE_METHODS else ("all", "writes")
        with self._lock:
            wait = max(self._count((caller, kind)) for kind in kinds)
        if wait:
            limits = " and ".join(f"{self._limits[kind]:g} a minute ({kind})" for kind in kinds)
            raise RetryLater("too_many_requests", f"more than {limits}; try again in {math.ceil(wait)} s", wait)

    def _count(self, key: tuple[str, str]) -> float:
        limit = self._limits[key[1]]
        if not limit:
            return 0.0
        tat, wait = admit(self._tats.pop(key, 0.0), time.monotonic(), limit)
        self._tats[key] = tat
        if len(self._tats) > CALLERS:
            self._tats.popitem(last=False)
        return wait
