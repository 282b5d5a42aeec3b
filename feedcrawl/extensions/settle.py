"""Gives back the task whose callback or pipeline raised an error, so that no task stays leased.

An outage of the store or the disk has one error line, `store_away` or `disk_away`. The lines of the tasks that it
interrupts are at INFO, since no task is lost.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.logformatter import LogFormatter

from feedcrawl import wiring
from feedcrawl.services.operations.readiness import passes
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.logformatter import LogFormatterResult
    from twisted.python.failure import Failure

    from feedcrawl.domain.frontier.tasks import Lease


logger = logging.getLogger(__name__)

RETRY_SEC = 5.0


class Settle:
    """An outage of Redis or the disk does not count as an attempt of the task; an error of ours does, so that the task
    ends after its last attempt.

    Outages are counted in `feedcrawl/unavailable/…`, our errors in `feedcrawl/failed/…`.
    """

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.stats is not None
        self._stats = crawler.stats
        self._wired = wiring.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connects to the signals for errors of pipelines and callbacks."""
        extension = cls(crawler)
        crawler.signals.connect(extension.item_error, signals.item_error)
        crawler.signals.connect(extension.spider_error, signals.spider_error)
        return extension

    def item_error(self, item: object, failure: Failure) -> None:
        """Gives back the task of an item whose pipeline raised."""
        self._settle(getattr(item, "lease", None), failure, "pipeline_failed")

    def spider_error(self, failure: Failure, response: Response | None) -> None:
        """Gives back the task of a request whose callback or errback raised."""
        request = getattr(failure, "request", None) or getattr(response, "request", None)
        self._settle(request.meta.get("lease") if request is not None else None, failure, "callback_failed")

    def _settle(self, lease: Lease | None, failure: Failure, reason: str) -> None:
        self._wired.readiness.note(failure.value)
        away = isinstance(failure.value, (StoreUnavailable, DiskUnavailable))
        self._stats.inc_value(f"feedcrawl/{'unavailable' if away else 'failed'}/{reason}")
        if lease is None:
            return
        is_outage = passes(failure.value)
        # A task that waits longer than the linger time would be left behind: the crawl would end as if its work were
        # done.
        delay = min(RETRY_SEC, self._wired.config.linger_sec) if is_outage else RETRY_SEC
        code = getattr(failure.value, "code", reason) if away else reason
        level = logging.INFO if is_outage else logging.ERROR
        logger.log(level, "task_given_back", extra={"task": lease.id, "url": lease.task.url, "reason": code})
        self._wired.leases.give_back_eventually(lease, reason=str(code), delay_sec=delay, counted=not away)


class OutageLogFormatter(LogFormatter):
    """Value for LOG_FORMATTER: Scrapy's lines, at INFO if the error is an outage."""

    def item_error(
        self, item: object, exception: BaseException, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult:
        """The line for an error of a pipeline."""
        return _as_outage(super().item_error(item, exception, response, spider), exception)

    def spider_error(
        self, failure: Failure, request: Request, response: Response | Failure, spider: Spider
    ) -> LogFormatterResult:
        """The line for an error of a callback."""
        return _as_outage(super().spider_error(failure, request, response, spider), failure.value)


def _as_outage(line: LogFormatterResult, error: BaseException | None) -> LogFormatterResult:
    return {**line, "level": logging.INFO} if passes(error) else line
