"""The exit status of a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from scrapy import signals

from feedcrawl.console.output import DONE, FAILED, UNUSABLE
from feedcrawl.services.operations.readiness import passes
from feedcrawl.spiders.base import NAMED_REFUSED, NO_USABLE_ARGUMENT
from feedcrawl.telemetry.names import UNRETURNED

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from feedcrawl.domain.frontier.tasks import Lease

_AWAY: Final = frozenset({"store_away", "disk_away"})
"""Reasons for which the scheduler ends a crawl: Redis or the disk stayed unavailable, or the server has lost its
data.
"""


class ExitStatus:
    """Watches a crawl for tasks that failed because of our own code or stores, and that no later attempt of the run
    completed.

    A task that waits in the frontier after Redis or the disk was unavailable for a time is no failure, nor is an end
    whose reply was lost, unless the frontier could not be reached until the end of the run (`UNRETURNED`).
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._unresolved: set[object] = set()

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """Starts to watch a crawl."""
        watched = cls(crawler)
        crawler.signals.connect(watched._item_error, signals.item_error)
        crawler.signals.connect(watched._spider_error, signals.spider_error)
        crawler.signals.connect(watched._item_scraped, signals.item_scraped)
        return watched

    @property
    def code(self) -> int:
        """0 if each task ended stored, dead with a reason, or back in the frontier; otherwise 1 or 2."""
        stats = self._crawler.stats
        failed = self._unresolved or stats.get_value(UNRETURNED) or stats.get_value(NAMED_REFUSED)
        if failed or stats.get_value("finish_reason") in _AWAY:
            return FAILED
        return UNUSABLE if stats.get_value(NO_USABLE_ARGUMENT) else DONE

    def _item_error(self, item: object, failure: Failure) -> None:
        self._failed(getattr(item, "lease", None), failure)

    def _spider_error(self, failure: Failure, response: Response | None) -> None:
        request = getattr(failure, "request", None) or getattr(response, "request", None)
        self._failed(request.meta.get("lease") if request is not None else None, failure)

    def _failed(self, lease: Lease | None, failure: Failure) -> None:
        if lease is None or not passes(failure.value):
            self._unresolved.add(_task(lease))

    def _item_scraped(self, item: object) -> None:
        self._unresolved.discard(_task(getattr(item, "lease", None)))


def _task(lease: Lease | None) -> object:
    """The key by which failures of one task are grouped; a failure without a task cannot be completed by a later
    attempt.
    """
    return object() if lease is None else lease.id
