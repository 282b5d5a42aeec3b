from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from twisted.python.failure import Failure

from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.extensions import settle
from feedcrawl.extensions.settle import Settle
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import StoreUnavailable

LEASE = Lease(Task("t", "article", "http://a.test/", "a.test"), History(), "1-x")
AWAY = StoreUnavailable("unreachable", "gone")


@pytest.mark.parametrize(
    ("error", "linger_sec", "returned"),
    [
        (AWAY, 30.0, {"reason": "unreachable", "delay_sec": 5.0, "counted": False}),
        (AWAY, 3.0, {"reason": "unreachable", "delay_sec": 3.0, "counted": False}),  # the crawl waits for it
        (DiskUnavailable(Path("x"), "disk_full"), 3.0, {"reason": "disk_full", "delay_sec": 3.0, "counted": False}),
        (DiskUnavailable(Path("x"), "not_a_file"), 3.0, {"reason": "not_a_file", "delay_sec": 5.0, "counted": False}),
        (ValueError("a bug"), 3.0, {"reason": "pipeline_failed", "delay_sec": 5.0, "counted": True}),
    ],
)
def test_a_task_that_an_outage_stopped_comes_again_before_the_crawl_ends(
    monkeypatch: pytest.MonkeyPatch, error: Exception, linger_sec: float, returned: dict[str, Any]
) -> None:
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
