"""The fleet's tempo, computed by each worker from the state that all workers share in the store."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from feedcrawl.domain.cadence import tempo

if TYPE_CHECKING:
    from datetime import datetime

    from feedcrawl.domain.cadence import CadencePolicy
    from feedcrawl.store.subscriptions.registry import Registry

logger = logging.getLogger(__name__)

REFRESH_SEC = 60.0
LOGGED_CHANGE = 1.1
"""The least factor by which the tempo must change to be logged."""


class Tempo:
    """The policy at the tempo that keeps the budget, if there is a budget; the store is read once a minute."""

    def __init__(self, registry: Registry, policy: CadencePolicy, polls_per_hour: float | None) -> None:
        self._registry = registry
        self._policy = policy
        self._polls_per_hour = polls_per_hour
        self._asked_at: datetime | None = None
        self._logged = 1.0

    def policy(self, now: datetime) -> CadencePolicy:
        """The current policy, with its tempo. May raise StoreUnavailable."""
        if self._polls_per_hour is None:
            return self._policy
        if self._asked_at is None or not 0 <= (now - self._asked_at).total_seconds() < REFRESH_SEC:
            self._asked_at = now
            self._policy = replace(self._policy, tempo=self._current())
        return self._policy

    def _current(self) -> float:
        demanded = self._registry.demand()
        found = tempo.tempo_for(demanded, self._polls_per_hour)
        if not 1 / LOGGED_CHANGE < found / self._logged < LOGGED_CHANGE:
            self._logged = found
            details = {"polls_per_hour": self._polls_per_hour, "demand_per_hour": round(demanded * 3600, 1)}
            logger.info("tempo_changed", extra={**details, "tempo": round(found, 3)})
        return found
