from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import signals
from scrapy.signalmanager import SignalManager

from feedcrawl.config import ConfigError
from feedcrawl.console.operations import crawl
from feedcrawl.console.operations.exit_status import ExitStatus
from feedcrawl.console.stores import explained
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.spiders.base import NAMED_REFUSED, NO_USABLE_ARGUMENT
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import ServerRefused, StoreUnavailable
from feedcrawl.telemetry.names import UNRETURNED


def item(task: str) -> Any:
    return SimpleNamespace(lease=SimpleNamespace(id=task))


def status(*happened: tuple[object, dict[str, Any]], **stats: object) -> int:
    known = {"finish_reason": "finished"} | {name.replace("__", "/"): value for name, value in stats.items()}
    crawler = SimpleNamespace(signals=SignalManager(), stats=SimpleNamespace(get_value=known.get))
    watched = ExitStatus.of(crawler)
    for signal, named in happened:
        crawler.signals.send_catch_log(signal, **named)
    return watched.code


REQUEST = SimpleNamespace(meta={"lease": SimpleNamespace(id="a")})


def failed(error: Exception, task: str = "a") -> tuple[object, dict[str, Any]]:
    return signals.item_error, {"item": item(task), "failure": SimpleNamespace(value=error), "response": None}


BUG = ValueError("a bug")
AWAY = StoreUnavailable("timeout", "gone")
FAILED = failed(BUG)
CALLBACK = (signals.spider_error, {"failure": SimpleNamespace(value=BUG, request=REQUEST), "response": None})
START = (signals.spider_error, {"failure": SimpleNamespace(value=AWAY), "response": None})
STORED = (signals.item_scraped, {"item": item("a"), "response": None})
OTHER = (signals.item_scraped, {"item": item("b"), "response": None})
PLAIN = (signals.item_scraped, {"item": {"url": "x"}, "response": None})


@pytest.mark.parametrize(
    ("happened", "code"),
    [
        ([], 0),
        ([STORED], 0),
        ([FAILED], 1),
        ([CALLBACK], 1),
        ([START], 1),
        ([FAILED, OTHER], 1),
        ([START, STORED, PLAIN], 1),
        ([FAILED, CALLBACK, STORED], 0),  # a later attempt of the run has mended it
        ([STORED, FAILED], 1),
        ([failed(AWAY)], 0),  # it is back in the frontier, or had ended and the answer was lost
        ([failed(DiskUnavailable(Path("/x"), "disk_full"))], 0),
        ([failed(DiskUnavailable(Path("/x"), "not_a_file"))], 1),
    ],
)
def test_a_failure_counts_until_it_is_mended(happened: list[tuple[object, dict[str, Any]]], code: int) -> None:
    assert status(*happened) == code


def test_reasons_of_the_end_of_a_crawl_have_a_status() -> None:
    assert status(finish_reason="store_away") == 1
    assert status(finish_reason="disk_away") == 1
    assert status(**{NO_USABLE_ARGUMENT: True}) == 2
    assert status(**{NAMED_REFUSED: True}) == 1
    assert status(FAILED, **{NO_USABLE_ARGUMENT: True}) == 1
    assert status(finish_reason="shutdown") == 0
    assert status(failed(AWAY), **{UNRETURNED: 1}) == 1


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ConfigError("FEEDCRAWL_X must be y"), 2, "FEEDCRAWL_X must be y"),
        (ValueError("COOKIES_ENABLED is True"), 2, "COOKIES_ENABLED is True"),
        (InvalidUrl("url_scheme", "ftp: is\nnone"), 2, "ftp: is none (url_scheme)"),
        (ServerRefused("no_aof", "set appendonly"), 2, "set appendonly (no_aof)"),
        (ServerRefused("unreachable", "start it"), 1, "start it (unreachable)"),
        (ServerRefused("data_dir", "make it writable"), 1, "make it writable (data_dir)"),
        (StoreUnavailable("timeout", "gone"), 1, "timeout: gone"),
        (DiskUnavailable(Path("/x"), "disk_full"), 1, "disk_full: /x"),
    ],
)
def test_errors_in_a_sentence(error: Exception, code: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(error, "crawl") == code
    assert capsys.readouterr().err == f"scrapy crawl: {message}\n"


def test_an_error_of_closing_an_engine_that_has_not_begun_covers_no_cause(capsys: pytest.CaptureFixture[str]) -> None:
    covering = RuntimeError("Engine slot not assigned")
    covering.__context__ = DiskUnavailable(Path("/x/generation"), "read_only")
    assert crawl.exit_status(covering) == 1
    assert capsys.readouterr().err == "scrapy crawl: read_only: /x/generation\n"
