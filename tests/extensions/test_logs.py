import json
import logging
import re
import sys
from pathlib import Path

import pytest
import scrapy
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Spider
from scrapy.settings import Settings

from feedcrawl.domain.secrets import without_secrets
from feedcrawl.extensions import logs
from feedcrawl.store.redis.errors import StoreUnavailable

EVIL = "http://a.test/\r\n2026-01-01 00:00:00Z [info] article_stored\x1b[2J\x9b%s{}\u2028\"'"


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch):
    """The root logger without pytest's handlers, as it was afterwards."""
    level = logging.root.level
    monkeypatch.setattr(logging.root, "handlers", [])
    yield logging.root
    for handler in logging.root.handlers:
        handler.close()
    logging.root.setLevel(level)


def settings(**values: object) -> Settings:
    return Settings({"FEEDCRAWL_LOG_FORMAT": "console", "FEEDCRAWL_LOG_LEVEL": "INFO", **values})


def formatted(message: str, extra: dict[str, object] | None = None, form: str = "console", **how: object) -> str:
    logger = logging.getLogger("feedcrawl.pipelines.commit")
    record = logger.makeRecord(logger.name, logging.INFO, "x.py", 1, message, (), how.get("exc_info"), extra=extra)
    return logs.formatter(settings(FEEDCRAWL_LOG_FORMAT=form)).format(record)


def test_console() -> None:
    line = formatted(
        "article_stored", {"uid": "fb18", "url": "http://a.test/?x=1", "feed_id": None, "n": 3, "f": {"A": 1}}
    )
    stamp, rest = line.split("Z ", 1)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", stamp)
    assert rest == '[info] article_stored uid=fb18 url="http://a.test/?x=1" n=3 f={"A": 1}'


def test_json() -> None:
    record = json.loads(formatted("article_stored", {"uid": "fb18", "n": 3, "none": None}, "json"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", record.pop("timestamp"))
    assert record == {
        "level": "info", "event": "article_stored", "logger": "feedcrawl.pipelines.commit", "uid": "fb18", "n": 3,
        "none": None,
    }  # fmt: skip


@pytest.mark.parametrize("form", ["console", "json"])
def test_no_line_has_a_secret(form: str) -> None:
    url, request = "http://ann:SECRET@a.test/?token=SECRET", scrapy.Request("http://a.test/?key=SECRET")
    try:
        int_of(f"not {url}")
    except RuntimeError:
        extra = {"url": url, "all": [url, {"url": url}], "asked": request, "n": 1}
        line = formatted(f"Crawled {request} for {url}", extra, form, exc_info=sys.exc_info())
    assert "SECRET" not in line
    assert "http://ann:***@a.test/?token=***" in line
    assert "http://a.test/?key=***" in line


def int_of(text: str) -> int:
    raise RuntimeError(text)


@pytest.mark.parametrize("form", ["console", "json"])
@pytest.mark.parametrize("place", ["event", "value", "exception"])
def test_text_from_the_web_forges_no_log_line(form: str, place: str) -> None:
    with pytest.raises(RuntimeError) as raised:
        int_of(EVIL)
    caught = (raised.type, raised.value, raised.tb)
    text = {
        "event": lambda: formatted(EVIL, form=form),
        "value": lambda: formatted("x", {"url": EVIL, "deep": {"a": [EVIL]}}, form),
        "exception": lambda: formatted("x", form=form, exc_info=caught),
    }[place]()
    first, *others = text.split("\n")
    assert all(line.startswith("    ") for line in others)
    assert others == [] or (form, place) == ("console", "exception")
    assert all(line.isprintable() for line in [first, *others])
    if form == "json":
        assert place != "event" or json.loads(text)["event"] == EVIL


@given(st.text(), st.text(max_size=20))
def test_each_value_is_a_single_word(value: str, event: str) -> None:
    line = formatted(event, {"one": value, "two": "x"})
    assert line.isprintable()
    assert line.endswith(" two=x")
    record = json.loads(formatted(event, {"one": value}, "json"))
    assert (record["event"], record["one"]) == (without_secrets(event), without_secrets(value))


def test_objects_of_scrapy_stay_out() -> None:
    record = json.loads(formatted("Spider opened", {"spider": Spider("feeds"), "crawler": object()}, "json"))
    assert not {"spider", "crawler"} & record.keys()
    assert json.loads(formatted("x", {"spider": "feeds"}, "json"))["spider"] == "feeds"


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_message_for_terminals_is_not_logged_twice(form: str) -> None:
    assert "32m" not in formatted("Running", {"color_message": "\x1b[32mRunning"}, form)


def test_an_error_that_explains_itself_has_no_traceback() -> None:
    error = StoreUnavailable("unreachable", "it is away")
    line = formatted("Error processing", exc_info=(StoreUnavailable, error, None))
    assert line.endswith('[info] Error processing error="unreachable: it is away"')


def test_the_handler_keeps_start_up_noise_for_debugging(
    root: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.install(settings())
    logging.getLogger("scrapy.middleware").info("Enabled extensions:\n[]")
    logging.getLogger("scrapy.middleware").warning("Disabled")
    logging.getLogger("scrapy.core.engine").info("Spider opened")
    logging.getLogger("feedcrawl.x").debug("article_fetching")
    assert [line.split("] ")[1] for line in capsys.readouterr().err.splitlines()] == [
        "scrapy.middleware: Disabled",
        "scrapy.core.engine: Spider opened",
    ]
    logging.root.handlers.clear()
    logs.install(settings(FEEDCRAWL_LOG_LEVEL="debug"))
    logging.getLogger("scrapy.middleware").info("Enabled")
    logging.getLogger("feedcrawl.x").debug("article_fetching", extra={"url": "x"})
    assert [line.split("] ")[1] for line in capsys.readouterr().err.splitlines()] == [
        "scrapy.middleware: Enabled",
        "article_fetching url=x",
    ]


def test_files_and_silence(root: logging.Logger, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs.install(settings(LOG_FILE=str(tmp_path / "log"), FEEDCRAWL_LOG_FORMAT="json"))
    logging.getLogger("feedcrawl.x").info("é", extra={"url": "x"})
    assert json.loads((tmp_path / "log").read_text())["event"] == "é"
    for handler in logging.root.handlers:
        handler.close()
    logging.root.handlers.clear()
    logs.install(settings(LOG_ENABLED=False))
    logging.getLogger("feedcrawl.x").error("nobody hears")
    assert capsys.readouterr().err == ""


def test_the_level_that_an_operator_gives_counts() -> None:
    project = settings()
    project.set("LOG_LEVEL", "ERROR", priority="project")
    assert logs.level_of(project) == "INFO"
    project.set("LOG_LEVEL", "warning", priority="cmdline")
    assert logs.level_of(project) == "WARNING"
    with pytest.raises(ValueError, match="FEEDCRAWL_LOG_LEVEL is LOUD"):
        logs.level_of(settings(FEEDCRAWL_LOG_LEVEL="loud"))


@pytest.mark.parametrize(
    ("given", "level"),
    [
        ({}, "WARNING"),
        ({"FEEDCRAWL_LOG_FORMAT": "json"}, "INFO"),
        ({"LOG_FILE": "crawl.log"}, "INFO"),
        ({"FEEDCRAWL_LOG_LEVEL": "ERROR", "FEEDCRAWL_LOG_FORMAT": "json"}, "ERROR"),
    ],
)
def test_without_a_level_the_reader_decides(given: dict[str, str], level: str) -> None:
    assert logs.level_of(settings(**{"FEEDCRAWL_LOG_LEVEL": None} | given)) == level


def test_a_log_of_warnings_alone_is_brief(root: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    extra = {"feed_id": "8864d7c8", "poll_id": "8864d7c8@1", "url": "http://a.test/feed", "title": "A", "new": 0}
    for level, shown in ((None, "url=http://a.test/feed title=A"), ("INFO", "feed_id=8864d7c8 poll_id=8864d7c8@1 ")):
        logs.install(settings(FEEDCRAWL_LOG_LEVEL=level))
        logging.getLogger("feedcrawl.x").warning("feed_failed", extra=extra)
        assert f"[warning] feed_failed {shown}" in capsys.readouterr().err
        logging.root.handlers.clear()


@pytest.fixture
def scrapys():
    """Scrapy's logger, whose level is afterwards as it was."""
    logger = logging.getLogger("scrapy")
    level = logger.level
    yield logger
    logger.setLevel(level)


@pytest.mark.parametrize(("level", "is_made"), [("INFO", False), ("DEBUG", True)])
def test_scrapys_records_below_the_level_are_not_made(
    root: logging.Logger, scrapys: logging.Logger, level: str, is_made: bool
) -> None:
    root.handlers.clear()  # pytest's own, which take every level
    given = settings(FEEDCRAWL_LOG_LEVEL=level)
    logs.install(given)
    scrapys.setLevel(logging.DEBUG)  # as Scrapy does for each process of crawlers
    logs.Logs(logs.formatter(given))
    assert logging.getLogger("scrapy.core.engine").isEnabledFor(logging.DEBUG) is is_made


def test_a_warning_about_a_host_names_the_host(root: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    logs.install(settings(FEEDCRAWL_LOG_LEVEL=None))
    logging.getLogger("feedcrawl.x").warning("robots_failed", extra={"host": "a.test", "reason": "http_503"})
    assert "[warning] robots_failed host=a.test reason=http_503" in capsys.readouterr().err
