import io
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager

from feedcrawl.extensions.progress import Progress, line, summary, table

STATS = {
    "feedcrawl/polls/fetched": 2,
    "feedcrawl/polls/failed": 1,
    "feedcrawl/entries/new": 7,
    "feedcrawl/articles/stored": 4,
    "feedcrawl/articles/failed": 2,
    "feedcrawl/articles/failed/FAIL_HTTP": 1,
    "feedcrawl/articles/failed/FAIL_TIMEOUT": 1,
    "downloader/request_count": 12,
    "downloader/response_bytes": 3456,
    "elapsed_time_seconds": 61.25,
}
COUNTS: dict[str, Any] = {
    "polls": 3,
    "polls_by_result": {"failed": 1, "fetched": 2},
    "entries_new": 7,
    "entries_changed": 0,
    "articles_stored": 4,
    "articles_merged": 0,
    "articles_failed": 2,
    "failures": {"FAIL_HTTP": 1, "FAIL_TIMEOUT": 1},
    "requests": 12,
    "bytes": 3456,
    "elapsed_sec": 61.2,
}


def test_the_numbers() -> None:
    assert summary(STATS) == COUNTS
    assert summary({})["polls"] == 0


def test_the_line() -> None:
    said = "3 feeds polled · 7 new entries · 4 articles stored · 2 failed (FAIL_HTTP 1, FAIL_TIMEOUT 1) · 9 waiting"
    assert line(COUNTS, 9) == said
    assert line(summary({}), None).endswith("0 failed · ? waiting")


def test_the_table() -> None:
    text = io.StringIO()
    Console(file=text, width=60).print(table(COUNTS, "finished"))
    rows = [row.split() for row in text.getvalue().splitlines() if row.strip()]
    assert rows[0] == ["crawl", "finished"]
    assert ["articles", "stored", "4"] in rows
    assert ["FAIL_TIMEOUT", "1"] in rows
    assert ["elapsed", "1", "min"] in rows


def test_off_a_terminal_there_is_one_closing_event(caplog: pytest.LogCaptureFixture) -> None:
    stats = SimpleNamespace(get_stats=lambda: STATS)
    progress = Progress.from_crawler(SimpleNamespace(settings=Settings(), signals=SignalManager(), stats=stats))
    with caplog.at_level(logging.INFO):
        progress.spider_opened()
        progress.spider_closed("finished")
    (record,) = [each for each in caplog.records if each.getMessage() == "crawl_finished"]
    assert {name: getattr(record, name) for name in COUNTS} == COUNTS
    assert record.reason == "finished"
