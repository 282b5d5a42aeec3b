import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from twisted.python.failure import Failure

from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.extensions import settle
from feedcrawl.extensions.settle import OutageLogFormatter, Settle
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import StoreUnavailable

LEASE = Lease(Task("t", "article", "http://a.test/", "a.test"), History(), "1-x")
AWAY = StoreUnavailable("unreachable", "gone")
FULL = DiskUnavailable(Path("x"), "disk_full")
NO_FILE = DiskUnavailable(Path("x"), "not_a_file")
BUG = ValueError("a bug")


@pytest.mark.parametrize(
    ("error", "linger_sec", "returned", "level"),
    [
        (AWAY, 30.0, {"reason": "unreachable", "delay_sec": 5.0, "counted": False}, logging.INFO),
        # The crawl waits for the task.
        (AWAY, 3.0, {"reason": "unreachable", "delay_sec": 3.0, "counted": False}, logging.INFO),
        (FULL, 3.0, {"reason": "disk_full", "delay_sec": 3.0, "counted": False}, logging.INFO),
        (NO_FILE, 3.0, {"reason": "not_a_file", "delay_sec": 5.0, "counted": False}, logging.ERROR),
        (BUG, 3.0, {"reason": "pipeline_failed", "delay_sec": 5.0, "counted": True}, logging.ERROR),
    ],
)
def test_a_task_that_an_outage_stopped_comes_again_before_the_crawl_ends(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    linger_sec: float,
    returned: dict[str, Any],
    level: int,
) -> None:
    caplog.set_level(logging.INFO, "feedcrawl")
    given_back = []
    crawler = SimpleNamespace(settings=Settings())
    crawler.stats = MemoryStatsCollector(crawler)
    wired = SimpleNamespace(
        config=SimpleNamespace(linger_sec=linger_sec),
        readiness=SimpleNamespace(note=lambda _: None),
        leases=SimpleNamespace(give_back_eventually=lambda lease, **reason: given_back.append((lease, reason))),
    )
    monkeypatch.setattr(settle.wiring, "of", lambda _: wired)
    Settle(crawler).item_error(SimpleNamespace(lease=LEASE), Failure(error))
    assert given_back == [(LEASE, returned)]
    assert [(line.message, line.levelno) for line in caplog.records] == [("task_given_back", level)]


@pytest.mark.parametrize(
    ("error", "level"),
    [(AWAY, logging.INFO), (FULL, logging.INFO), (NO_FILE, logging.ERROR), (BUG, logging.ERROR)],
)
def test_scrapys_line_for_a_task_is_an_error_unless_an_outage_interrupted_the_task(
    error: Exception, level: int
) -> None:
    formatter, spider, request = OutageLogFormatter(), Spider("feeds"), Request("http://a.test/")
    response = Response(request.url)
    assert formatter.item_error({}, error, response, spider)["level"] == level
    assert formatter.spider_error(Failure(error), request, response, spider)["level"] == level
