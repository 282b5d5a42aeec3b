"""Requests of spiders that do not know the frontier: rebuilt from their tasks, and ended when they fail.

Their outcomes are decided by the same rules as those of articles. An errback is called at each failure, since the
frontier waits between attempts, where Scrapy's retries would keep a slot.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.request import request_from_dict

from feedcrawl import wiring
from feedcrawl.crawl.verdict import Verdicts
from feedcrawl.domain.frontier.outcome import PAUSES_SEC, retry_wait_sec
from feedcrawl.exceptions import HopElsewhere
from feedcrawl.services.frontier.requests import task_to_request_dict
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

    from feedcrawl.domain.frontier.outcome import Outcome
    from feedcrawl.domain.frontier.tasks import Lease

logger = logging.getLogger(__name__)


class PlainPages:
    """Tasks of kind `page`."""

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.stats is not None
        self._crawler = crawler
        self._wired = wiring.of(crawler)
        self._verdicts = Verdicts(self._wired.leases, crawler.stats, self._wired.now)

    def request(self, lease: Lease) -> Request:
        """The request from which the task was made; ValueError if the spider has no such callback."""
        request = request_from_dict(task_to_request_dict(lease.task), spider=self._crawler.spider)
        request.errback = partial(self._failed, request.errback)
        return request

    def _failed(self, errback: Callable[[Failure], object] | None, failure: Failure) -> object:
        request: Request = failure.request  # type: ignore[attr-defined]
        lease: Lease = request.meta["lease"]
        assert failure.value is not None
        try:
            self._end(lease, request, failure.value)
        except StoreUnavailable:
            self._wired.leases.give_back_eventually(lease, reason="store_lost")
        del request.meta["lease"]  # a request that the errback yields is a new task
        return failure if errback is None else errback(failure)

    def _end(self, lease: Lease, request: Request, error: BaseException) -> None:
        """End the task, or give it back, according to its outcome."""
        leases, config = self._wired.leases, self._wired.config
        outcome = self._verdicts.failed(request, error)
        hop = error if isinstance(error, HopElsewhere) else None
        if hop and leases.redirect(lease, hop.hop.url, hop.chain, limit=config.max_redirects, cookies=hop.cookies):
            return
        status = error.response.status if isinstance(error, HttpError) else None
        if outcome.fate == "done":
            leases.done(lease, reason=outcome.reason, signal=request.meta.get("signal"))
        elif outcome.fate in ("retry", "give_back"):
            self._give_back(lease, request, outcome, status)
        else:
            reason = "too_many_redirects" if hop else outcome.reason
            leases.done(lease, status="dead", reason=reason, dead_letter=outcome.dead_letter, http_status=status)

    def _give_back(self, lease: Lease, request: Request, outcome: Outcome, status: int | None) -> None:
        wait = retry_wait_sec(self._wired.config.retry_base_sec, lease.history.attempts)
        self._wired.leases.give_back(
            lease,
            reason=outcome.reason,
            delay_sec=max(wait, PAUSES_SEC.get(outcome.reason, 0), request.meta.get("retry_after_sec") or 0),
            counted=outcome.fate == "retry",
            site_wide=outcome.kind == "unreachable",
            http_status=status,
        )
