"""`scrapy crawl SPIDER`: Scrapy's command with our log lines, checked arguments, and a meaningful exit status."""

from __future__ import annotations

import inspect
import logging
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import crawl
from scrapy.exceptions import UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from asyncio import Task

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class Command(crawl.Command):
    """Exit status: 0 when each task taken ended stored, dead with a reason, or back in the frontier; 1 when Redis, disk
    or a pipeline failed; 2 when no argument was usable.
    """

    default_settings: ClassVar[dict[str, Any]] = {"LOG_INSTALL_ROOT_HANDLER": False}  # ours replaces Scrapy's

    def process_options(self, args: list[str], opts: Namespace) -> None:
        """Reads the command line and the settings; an unusable setting ends the program with a sentence."""
        from feedcrawl.addon import Addon  # noqa: PLC0415 - see the package
        from feedcrawl.commands.exit_status import explained  # noqa: PLC0415
        from feedcrawl.config import Config  # noqa: PLC0415
        from feedcrawl.extensions import logs  # noqa: PLC0415

        super().process_options(args, opts)
        assert self.settings is not None
        Addon.update_pre_crawler_settings(self.settings)  # in another project, Scrapy runs add-ons only for a crawl
        try:
            Config.from_settings(self.settings)
            logs.install(self.settings)
        except ValueError as error:
            raise SystemExit(explained(error, "crawl")) from None
        except OSError as error:
            raise SystemExit(_unwritable(error)) from None

    def run(self, args: list[str], opts: Namespace) -> None:
        """Crawls, and sets the exit status."""
        from feedcrawl.commands.exit_status import UNUSABLE, Ending, say  # noqa: PLC0415 - see the package

        if len(args) != 1:
            raise UsageError("name one spider: `scrapy list` tells which there are", print_help=False)
        assert self.crawler_process is not None
        known = self.crawler_process.spider_loader.list()
        if args[0] not in known:
            say("crawl", f"there is no spider {args[0]!r}; there are: {', '.join(sorted(known))}")
            self.exitcode = UNUSABLE
            return
        crawler = self._create_crawler(args[0])
        unknown = unknown_argument(crawler.spidercls, opts.spargs)
        if unknown is not None:
            say("crawl", unknown)
            self.exitcode = UNUSABLE
            return
        ending = Ending.of(crawler)
        error = self._crawl(crawler, opts.spargs)
        self.exitcode = ending.status if error is None else _status(error)

    def _crawl(self, crawler: Crawler, arguments: dict[str, str]) -> BaseException | None:
        """Runs to the end; returns the error that kept the crawl from starting."""
        assert self.crawler_process is not None
        task: Task[None] = self.crawler_process.crawl(crawler, **arguments)  # type: ignore[assignment]
        try:
            self.crawler_process.start()
        except ValueError as error:  # the resolver's rules cannot be read
            _abandon(task)
            return error
        return task.exception() if task.done() and not task.cancelled() else None


def unknown_argument(spider: type[Spider], given: dict[str, str]) -> str | None:
    """An error message for the first argument that a spider of ours does not know. Scrapyd adds arguments that
    begin with `_`.
    """
    from feedcrawl.spiders.base import FrontierSpider  # noqa: PLC0415 - see the package

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


def _status(error: BaseException) -> int:
    from feedcrawl.commands.exit_status import EXPLAINED, FAILED, explained  # noqa: PLC0415 - see the package

    if isinstance(error, EXPLAINED):
        logger.debug("crawl_not_started", exc_info=error)
        return explained(error, "crawl")
    logger.critical("crawl_failed", exc_info=error)
    return FAILED


def _abandon(task: Task[None]) -> None:
    """Ends a crawl whose reactor never ran."""
    import asyncio  # noqa: PLC0415 - see the package

    task.cancel()
    task.get_loop().run_until_complete(asyncio.wait([task]))


def _unwritable(error: BaseException) -> int:
    from feedcrawl.commands.exit_status import FAILED, say  # noqa: PLC0415 - see the package

    say("crawl", f"the log file cannot be written: {error}")
    return FAILED
