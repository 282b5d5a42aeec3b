"""Removes attempts, failures and index entries from the server 30 days after each, also while no article ends."""

from __future__ import annotations

import logging

from feedcrawl.extensions.base import Periodic, to_its_end
from feedcrawl.store.redis.errors import StoreUnavailable

logger = logging.getLogger(__name__)

EVERY_SEC = 60.0


class Expiry(Periodic):
    """Removes what has expired at the start and each minute, in every worker."""

    async def step(self) -> float:
        """Removes what has expired, in a thread: at the first start after a long time that may be much."""
        if self._wired.readiness.trouble is None:
            try:
                removed = await to_its_end(self._wired.articles.expire, self._wired.now().timestamp())
                self._stats.inc_value("feedcrawl/expired", removed)
            except StoreUnavailable as error:
                logger.debug("expiry_waits", extra={"reason": error.code})  # the scheduler pauses and logs the reason
        return EVERY_SEC
