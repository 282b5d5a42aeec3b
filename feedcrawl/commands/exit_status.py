"""What a run came to, as an exit status, and the errors that one sentence explains."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy import signals

from feedcrawl.commands import printable
from feedcrawl.config import ConfigError
from feedcrawl.domain.errors import Refusal
from feedcrawl.services.operations.readiness import passes
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import ServerRefused, StoreUnavailable
from feedcrawl.telemetry.names import NO_USABLE_ARGUMENT, UNRETURNED

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

DONE: Final = 0
FAILED: Final = 1
"""Redis, disk or a pipeline failed."""
UNUSABLE: Final = 2
"""No argument, or not the settings, could be used."""

_AWAY: Final = frozenset({"store_away", "disk_away"})
"""Why the scheduler ends a crawl: Redis or the disk stayed away, or the server has lost its data."""
_BROKEN_SERVERS: Final = frozenset(
    {"data_dir", "aof_damaged", "not_starting", "silent", "unreachable", "emptied", "another_server"}
)
"""ServerRefused codes of servers that do not work; of the others the settings would have to change."""
EXPLAINED: Final = (ConfigError, ServerRefused, StoreUnavailable, DiskUnavailable, Refusal, ValueError)
"""What one sentence explains; anything else is a bug, and has its traceback."""


class Ending:
    """Watches a crawl for tasks that something of ours failed on, and that no later attempt of the same run mended.

    Where Redis or the disk were away for a time the task waits in the frontier, or an end whose answer was lost has
    been reached: that is no failure, unless the frontier could not be told until the end (`UNRETURNED`).
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._unresolved: set[object] = set()

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """Watches from now on."""
        ending = cls(crawler)
        crawler.signals.connect(ending._item_error, signals.item_error)
        crawler.signals.connect(ending._spider_error, signals.spider_error)
        crawler.signals.connect(ending._item_scraped, signals.item_scraped)
        return ending

    @property
    def status(self) -> int:
        """0 when each task ended stored, dead with a reason, or back in the frontier; else 1 or 2."""
        stats = self._crawler.stats
        if self._unresolved or stats.get_value(UNRETURNED) or stats.get_value("finish_reason") in _AWAY:
            return FAILED
        return UNUSABLE if stats.get_value(NO_USABLE_ARGUMENT) else DONE

    def _item_error(self, item: Any, failure: Failure) -> None:
        self._failed(getattr(item, "lease", None), failure)

    def _spider_error(self, failure: Failure, response: Response | None) -> None:
        request = getattr(failure, "request", None) or getattr(response, "request", None)
        self._failed(request.meta.get("lease") if request is not None else None, failure)

    def _failed(self, lease: Any, failure: Failure) -> None:
        if lease is None or not passes(failure.value):
            self._unresolved.add(_task(lease))

    def _item_scraped(self, item: Any) -> None:
        self._unresolved.discard(_task(getattr(item, "lease", None)))


def _task(lease: Any) -> object:
    """What tells the failures of one task from those of others; what had no task cannot be mended by one."""
    return object() if lease is None else lease.id


def explained(error: BaseException, command: str) -> int:
    """Says on standard error what is wrong, in a sentence, and answers the exit status."""
    detail = getattr(error, "detail", None)
    say(command, f"{detail} ({error.code})" if detail and isinstance(error, (ServerRefused, Refusal)) else str(error))
    if isinstance(error, (StoreUnavailable, DiskUnavailable)):
        return FAILED
    return FAILED if isinstance(error, ServerRefused) and error.code in _BROKEN_SERVERS else UNUSABLE


def say(command: str, sentence: str) -> None:
    """A line on standard error; what it quotes may not end it."""
    sys.stderr.write(f"scrapy {command}: {printable(sentence)}\n")
