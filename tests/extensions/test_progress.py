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
    "feedcrawl/robots/waiting": 2,
    "downloader/request_count": 12,
    "downloader/response_bytes": 3456,
    "elapsed_time_seconds": 61.25,
}
STATS_MUCH = {"feedcrawl/articles/stored": 9_999_999, "feedcrawl/articles/failed": 99_999}
COUNTS: dict[str, Any] = {
    "polls": 3,
    "polls_by_result": {"failed": 1, "fetched": 2},
    "entries_new": 7,
    "entries_changed": 0,
    "articles_stored": 4,
    "articles_merged": 0,
    "articles_failed": 2,
    "failures": {"FAIL_HTTP": 1, "FAIL_TIMEOUT": 1},
    "articles_skipped": 0,
    "waiting_for_robots": 2,
    "requests": 12,
    "bytes": 3456,
    "elapsed_sec": 61.2,
}


def test_the_numbers() -> None:
    assert summary(STATS) == COUNTS
    assert summary({})["polls"] == 0


def test_the_line() -> None:
    assert line(COUNTS, 9) == "3 polls · 7 entries · 4 articles · 2 failed · 9 waiting"
    assert line(summary({}), None).endswith("0 failed · ? waiting")


def test_the_table() -> None:
    text = io.StringIO()
    Console(file=text, width=60).print(table(COUNTS, "finished"))
    rows = [row.split() for row in text.getvalue().splitlines() if row.strip()]
    assert rows[0] == ["crawl", "finished"]
    assert ["articles", "stored", "4"] in rows
    assert ["FAIL_TIMEOUT", "1"] in rows
    assert ["elapsed", "1", "min"] in rows


def test_the_line_fits_a_terminal_of_80_columns() -> None:
    much = summary({"feedcrawl/polls/fetched": 99_999, "feedcrawl/entries/new": 999_999, **STATS_MUCH})
    assert len(line(much, 1_000_000)) <= 80


def progress_of(**settings: Any) -> Progress:
    stats = SimpleNamespace(get_stats=lambda: STATS)
    given = Settings({"FEEDCRAWL_LOG_FORMAT": "console", "FEEDCRAWL_LOG_LEVEL": None, **settings})
    return Progress.from_crawler(SimpleNamespace(settings=given, signals=SignalManager(), stats=stats))


def test_off_a_terminal_people_get_the_table_without_colours(capsys: pytest.CaptureFixture[str]) -> None:
    progress = progress_of()
    progress.spider_opened()
    progress.spider_closed("finished")
    progress.spider_closed("stopped at once")
    text = capsys.readouterr().err
    assert text.count("crawl finished") == 1
    assert "stopped at once" not in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    "settings",
    [{"FEEDCRAWL_LOG_LEVEL": "INFO"}, {"FEEDCRAWL_LOG_FORMAT": "json"}, {"LOG_FILE": "crawl.log"}],
)
def test_a_log_without_a_terminal_has_a_single_closing_event(
    caplog: pytest.LogCaptureFixture, settings: dict[str, str]
) -> None:
    progress = progress_of(**settings)
    with caplog.at_level(logging.INFO):
        progress.spider_opened()
        progress.spider_closed("finished")
    (record,) = [each for each in caplog.records if each.getMessage() == "crawl_finished"]
    assert {name: getattr(record, name) for name in COUNTS} == COUNTS
    assert record.reason == "finished"
