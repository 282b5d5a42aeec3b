"""How often one caller may ask. Rates are those of one process of the API: what is counted here is spared to Redis."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from threading import Lock
from typing import Final

from feedcrawl.api.access import SAFE_METHODS
from feedcrawl.api.problems import ComeAgain
from feedcrawl.domain.operations.quota import admit

CALLERS: Final = 10_000
"""Whose requests are counted; more push out those who have been silent longest."""


class Rates:
    """Requests of each token and address, those that change something once more by themselves. Of any thread."""

    def __init__(self, per_minute: float, writes_per_minute: float) -> None:
        self._limits = {"all": per_minute, "writes": writes_per_minute}
        self._tats: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._lock = Lock()

    def count(self, caller: str, method: str) -> None:
        """Counts a request; ComeAgain (`too_many_requests`) where it is one too many."""
        kinds = ("all",) if method in SAFE_METHODS else ("all", "writes")
        with self._lock:
            wait = max(self._count((caller, kind)) for kind in kinds)
        if wait:
            limits = " and ".join(f"{self._limits[kind]:g} a minute ({kind})" for kind in kinds)
            raise ComeAgain("too_many_requests", f"more than {limits}; come again in {math.ceil(wait)} s", wait)

    def _count(self, key: tuple[str, str]) -> float:
        limit = self._limits[key[1]]
        if not limit:
            return 0.0
        tat, wait = admit(self._tats.pop(key, 0.0), time.monotonic(), limit)
        self._tats[key] = tat
        if len(self._tats) > CALLERS:
            self._tats.popitem(last=False)
        return wait
