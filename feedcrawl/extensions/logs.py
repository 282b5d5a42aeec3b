"""Log lines: an event with its fields, for people or as JSON; each record is exactly one line.

    2026-11-27 23:36:54Z [info] article_stored uid=fb18a22e994f51c0 url=https://example.com/xyz
    {"timestamp": "2026-11-27T23:36:54.123456Z", "level": "info", "event": "article_stored", "uid": "fb18a22e…", …}

A line has all extras of `logger.info("article_stored", extra={…})`, URLs without their secrets. Text from the web is
quoted and its control characters are escaped, so that no URL can forge a line or control a terminal.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self, TextIO

from scrapy import signals
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.log import TopLevelFormatter, get_scrapy_root_handler

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.secrets import value_without_secrets, without_secrets
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    Event = dict[str, object]

_START_UP = frozenset({
    "scrapy.utils.log", "scrapy.addons", "scrapy.middleware", "scrapy.crawler", "scrapy.statscollectors",
    "scrapy.extensions.logstats",
})  # fmt: skip
"""Loggers that list the components of a crawl; they log at DEBUG, since only developers need them."""
_OBJECTS = ("spider", "crawler", "response", "request", "item")
"""Extras that Scrapy adds and that are live objects."""
_OF_EVERY_RECORD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}
"""Attributes that are no extras; the last ones are set by other handlers' formatters, later Pythons and uvicorn."""
_JSON = json.JSONEncoder(ensure_ascii=False, default=str)
_PLAIN_TYPES = (str, int, float, dict, list, tuple, type(None))
_PLAIN = re.compile(r"[^\s\"'=\\]+")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_EXPLAINED = (StoreUnavailable, DiskUnavailable, Refusal)
"""Errors whose message explains everything: a traceback would not help an operator."""
_JOINING = frozenset({"feed_id", "poll_id", "host", "new", "interval_before", "interval_after"})
_LEVEL_COLOURS = {"debug": "2", "info": "32", "warning": "33", "error": "31", "critical": "1;31"}


class Logs:
    """Sets this format on Scrapy's log handler when a script runs the crawler instead of the `crawl` command."""

    def __init__(self, formatter: logging.Formatter) -> None:
        self._formatter = formatter
        self.apply()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads FEEDCRAWL_LOG_FORMAT."""
        extension = cls(formatter(crawler.settings))
        crawler.signals.connect(extension.apply, signals.spider_opened)  # by then Scrapy has made another handler
        return extension

    def apply(self) -> None:
        """Sets the formatter of Scrapy's handler, if there is one."""
        handler = get_scrapy_root_handler()
        if handler is not None:
            handler.setFormatter(self._formatter)
        # Scrapy gives its loggers the level DEBUG and leaves the rest to the handlers: it makes two records for each
        # request that nobody prints.
        if (handlers := logging.root.handlers) and not logging.getLogger("scrapy").handlers:
            logging.getLogger("scrapy").setLevel(max(logging.DEBUG, min(each.level for each in handlers)))


class _Stderr(logging.StreamHandler[TextIO]):
    """Writes to the current `sys.stderr`, so that the progress line stays below the log."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def install(settings: BaseSettings) -> None:
    """Installs a root log handler by LOG_FILE, LOG_ENABLED and the level, in place of Scrapy's. ValueError for a
    bad level.
    """
    level = level_of(settings)
    handler: logging.Handler
    if settings.get("LOG_FILE"):
        mode = "a" if settings.getbool("LOG_FILE_APPEND") else "w"
        handler = logging.FileHandler(settings["LOG_FILE"], mode=mode, encoding=settings.get("LOG_ENCODING"))
    elif settings.getbool("LOG_ENABLED"):
        handler = _Stderr()
    else:
        handler = logging.NullHandler()
    handler.setLevel(level)
    handler.setFormatter(formatter(settings, colours=isinstance(handler, _Stderr) and sys.stderr.isatty()))
    if handler.level > logging.DEBUG:
        handler.addFilter(lambda record: record.levelno > logging.INFO or record.name not in _START_UP)
    if settings.getbool("LOG_SHORT_NAMES"):
        handler.addFilter(TopLevelFormatter(["scrapy"]))
    logging.root.setLevel(handler.level)  # records that nobody prints are not even made
    logging.root.addHandler(handler)


def level_of(settings: BaseSettings) -> str:
    """LOG_LEVEL if the operator set it on the command line, else FEEDCRAWL_LOG_LEVEL, else the level that fits the
    reader. ValueError for a bad level.
    """
    given = (settings.getpriority("LOG_LEVEL") or 0) > SETTINGS_PRIORITIES["project"]
    name = "LOG_LEVEL" if given else "FEEDCRAWL_LOG_LEVEL"
    level = str(settings[name] or ("WARNING" if is_for_people(settings) else "INFO")).upper()
    if level not in _LEVELS:
        raise ValueError(f"{name} is {level}, it must be one of {', '.join(_LEVELS)}")
    return level


def is_for_people(settings: BaseSettings) -> bool:
    """True if people read the log as it is written: neither JSON nor a file."""
    return settings.get("FEEDCRAWL_LOG_FORMAT") != "json" and not settings.get("LOG_FILE")


def formatter(settings: BaseSettings, *, colours: bool = False) -> logging.Formatter:
    """The formatter named by FEEDCRAWL_LOG_FORMAT."""
    if settings.get("FEEDCRAWL_LOG_FORMAT") == "json":
        return Lines(_as_json)
    return Lines(Console(colours=colours, brief=level_of(settings) not in ("DEBUG", "INFO")))


class Lines(logging.Formatter):
    """Turns a record into an event with its extras, which `render` writes. Runs at every poll: must be fast."""

    def __init__(self, render: Callable[[Event], str]) -> None:
        super().__init__()
        self._render = render

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds")
        event: Event = {
            "timestamp": f"{at[:26]}Z",
            "level": record.levelname.lower(),
            "event": without_secrets(record.getMessage()),
        }
        event["logger"] = record.name
        for name, value in vars(record).items():
            if name not in _OF_EVERY_RECORD and (name not in _OBJECTS or isinstance(value, (str, int, type(None)))):
                event[name] = _shown(value)
        if record.exc_info and record.exc_info[1] is not None:
            if isinstance(record.exc_info[1], _EXPLAINED):
                event["error"] = without_secrets(str(record.exc_info[1]))
            else:
                event["exception"] = without_secrets(self.formatException(record.exc_info))
        return self._render(event)


def _shown(value: object) -> object:
    """A field's value in a form that JSON can encode, without the secrets of URLs."""
    return value_without_secrets(value if isinstance(value, _PLAIN_TYPES) else repr(value))


def _as_json(event: Event) -> str:
    return json.dumps(event, default=repr)


class Console:
    """Renders an event as a line for people; a traceback follows, indented."""

    def __init__(self, *, colours: bool, brief: bool = False) -> None:
        """`brief`: without the fields that join a line with others where the URL says the same, for a log of warnings
        alone.
        """
        self._colours = colours
        self._left_out: frozenset[str] = _JOINING if brief else frozenset()

    def __call__(self, event: Event) -> str:
        """The line; its time is cut to seconds."""
        level, trace = str(event.pop("level")), event.pop("exception", None)
        source, at, message = (str(event.pop(name)) for name in ("logger", "timestamp", "event"))
        shown = f"\x1b[{_LEVEL_COLOURS.get(level, '0')}m{level}\x1b[0m" if self._colours else level
        where = "" if event or source.startswith("feedcrawl") else f"{source}: "
        left_out = self._left_out if "url" in event else frozenset()
        pairs = [f"{key}={quoted(value)}" for key, value in event.items() if value is not None and key not in left_out]
        line = " ".join([f"{at[:10]} {at[11:19]}Z [{shown}] {where}{escaped(message)}", *pairs])
        return line if trace is None else "\n    ".join([line, *map(escaped, str(trace).splitlines())])


def escaped(text: str) -> str:
    """The text with every character escaped that could end a line or control a terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in text)


def quoted(value: object) -> str:
    """A value as a plain word, or as quoted JSON if it has other characters than those of a word."""
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return escaped(value)
    if type(value) in (int, float):
        return repr(value)
    return escaped(_JSON.encode(value))


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()
