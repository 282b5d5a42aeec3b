"""The work of `scrapy crawl`: checks settings and arguments, crawls, and says how the crawl ended."""

from __future__ import annotations

import asyncio
import inspect
import logging
from difflib import get_close_matches
from textwrap import wrap
from typing import TYPE_CHECKING

from scrapy.spiderloader import SpiderLoader

from feedcrawl.addon import Addon
from feedcrawl.config import Config
from feedcrawl.console.operations.exit_status import ExitStatus
from feedcrawl.console.output import FAILED, UNUSABLE, say
from feedcrawl.console.stores import EXPLAINED, explained
from feedcrawl.extensions import logs
from feedcrawl.spiders.base import FrontierSpider

if TYPE_CHECKING:
    from asyncio import Task
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import AsyncCrawlerProcess, Crawler, CrawlerProcess
    from scrapy.settings import Settings

logger = logging.getLogger(__name__)


def prepare(settings: Settings) -> None:
    """Applies the add-on and installs the log; an unusable setting ends the program with a sentence."""
    Addon.update_pre_crawler_settings(settings)  # in another project, Scrapy runs add-ons only for a crawl
    try:
        Config.from_settings(settings)
        logs.install(settings)
    except ValueError as error:
        raise SystemExit(explained(error, "crawl")) from None
    except OSError as error:
        say("crawl", f"the log file cannot be written: {error}")
        raise SystemExit(FAILED) from None


def run(
    process: CrawlerProcess | AsyncCrawlerProcess,
    create_crawler: Callable[[str], Crawler],
    spider: str,
    arguments: dict[str, str],
) -> int:
    """Crawls with the named spider, and returns the exit status."""
    known = process.spider_loader.list()
    if spider not in known:
        say("crawl", f"there is no spider {spider!r}; there are: {', '.join(sorted(known))}")
        return UNUSABLE
    crawler = create_crawler(spider)
    unknown = unknown_argument(crawler.spidercls, arguments)
    if unknown is not None:
        say("crawl", unknown)
        return UNUSABLE
    status = ExitStatus.of(crawler)
    error = _crawl(process, crawler, arguments)
    return status.code if error is None else exit_status(error)


def _crawl(
    process: CrawlerProcess | AsyncCrawlerProcess, crawler: Crawler, arguments: dict[str, str]
) -> BaseException | None:
    """Runs to the end; returns the error that kept the crawl from starting."""
    task: Task[None] = process.crawl(crawler, **arguments)  # type: ignore[assignment]
    try:
        process.start()
    except ValueError as error:  # the resolver's rules cannot be read
        _abandon(task)
        return error
    return task.exception() if task.done() and not task.cancelled() else None


def spiders_help(settings: Settings) -> str:
    """The spiders of a project with their arguments, for the help of the command."""
    loader = SpiderLoader.from_settings(settings)
    lines = ["spiders, with their arguments (-a NAME=VALUE):"]
    for name in sorted(loader.list()):
        words = " ".join(inspect.cleandoc(loader.load(name).__doc__ or "").split()).removeprefix("Arguments: ")
        lines += ["", *wrap(words, 78, initial_indent=f"  {name:<10}", subsequent_indent=" " * 12)]
    return "\n".join(lines)


def unknown_argument(spider: type[Spider], given: dict[str, str]) -> str | None:
    """An error message for the first argument that a spider of ours does not know. Scrapyd adds arguments that
    begin with `_`.
    """
    if not issubclass(spider, FrontierSpider):
        return None
    known = sorted(
        name
        for each in spider.__mro__
        if issubclass(each, FrontierSpider) and "__init__" in vars(each)
        for name, parameter in inspect.signature(each).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    )
    for name in given:
        if name not in known and not name.startswith("_"):
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            return f"{spider.name} takes no argument {name!r}; {hint}it takes: {', '.join(known) or 'none'}"
    return None


def exit_status(error: BaseException) -> int:
    """The exit status of a crawl that failed. If a scheduler cannot be built, Scrapy closes the engine that has not
    begun, and the RuntimeError of closing it covers the cause.
    """
    if isinstance(error, RuntimeError) and isinstance(error.__context__, EXPLAINED):
        error = error.__context__
    if isinstance(error, EXPLAINED):
        logger.debug("crawl_not_started", exc_info=error)
        return explained(error, "crawl")
    logger.critical("crawl_failed", exc_info=error)
    return FAILED


def _abandon(task: Task[None]) -> None:
    """Ends a crawl whose reactor never ran."""
    task.cancel()
    task.get_loop().run_until_complete(asyncio.wait([task]))
