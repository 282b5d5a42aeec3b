"""Base classes of the commands. Scrapy imports every module of `commands/` for each command, so a command's class has
only its name, options and help; its work is a module of this package, imported when the command runs.
"""

from __future__ import annotations

import gc
import re
import signal
import sys
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from feedcrawl.console.folding import folded
from feedcrawl.console.output import UNUSABLE, say, terminal_width
from feedcrawl.hints import missing, program

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from types import ModuleType

    from scrapy.settings import BaseSettings

_COLLECT_AFTER = 50_000
"""New objects until the next collection of garbage: the records of a list are in no cycles, and collections after 700
objects, Python's default, take a third of the time of a list of ten thousand feeds.
"""
_USAGE_INDENT = 2
"""Columns by which Scrapy indents the first line of a usage."""


class WithWork(ScrapyCommand):
    """A command with its work in another module: `work_module`, which may need the packages of an `extra`."""

    work_module: str
    extra: ClassVar[str | None] = None
    takes_words: ClassVar[bool] = False
    """True if arguments are words of a language, which may begin with a hyphen."""

    @property
    def name(self) -> str:
        """The word after `scrapy`."""
        return type(self).__module__.rpartition(".")[2]

    @cached_property
    def work(self) -> ModuleType:
        """The module, imported at the first use; without a package of the extra the command ends with a hint."""
        gc.disable()  # imports leave little garbage, and a collection among them costs a tenth of a short command
        try:
            with _ended_by_interrupt():
                return import_module(self.work_module)
        except ModuleNotFoundError as error:
            if self.extra is None:
                raise
            say(self.name, missing(error, self.extra))
            raise SystemExit(UNUSABLE) from error
        finally:
            gc.freeze()  # modules live until the process ends; taking them apart then costs a sixth of a short command
            gc.set_threshold(_COLLECT_AFTER)
            gc.enable()

    def add_options(self, parser: ArgumentParser) -> None:
        """Scrapy's options; the usage names the program that the user runs."""
        super().add_options(parser)
        parser.usage = "\n".join(folded(f"{program()} {self.name} {self.syntax()}", _usage_width()))
        self._parser = parser

    def process_options(self, args: list[str], opts: Namespace) -> None:
        """Reads the command line; UsageError for an unknown option, which Scrapy would take for an argument."""
        for word in args:
            is_option = re.fullmatch(r"--.+|-[A-Za-z].*", word) is not None
            is_word = self.takes_words and not word.startswith("--") and nearest(word, self._parser) is None
            if is_option and not is_word:
                raise UsageError(unknown_option(word, self._parser), print_help=False)
        super().process_options(args, opts)


class StoreCommand(WithWork):
    """A command that uses the stores briefly: it may run beside a crawl, and leaves no server running.

    Its work has a function `run(command, args, opts)`, made by `console.stores.on`, which returns the exit status.
    """

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, object]] = {}
    takes_names: ClassVar[bool] = True
    """True if the command takes arguments beside options."""

    def run(self, args: list[str], opts: Namespace) -> None:
        """Runs the work."""
        if args and not self.takes_names:
            raise UsageError("it takes no name", print_help=False)
        self.exitcode = self.work.run(self, args, opts)


class WithoutStores(WithWork):
    """A command that requests one URL and uses neither queue nor stores."""

    def process_options(self, args: list[str], opts: Namespace) -> None:
        """Reads the command line, and leaves out what needs a server."""
        super().process_options(args, opts)
        assert self.settings is not None
        without_stores(self.settings)


@contextmanager
def _ended_by_interrupt() -> Iterator[None]:
    """Ctrl-C ends the process at once, without a traceback, while nothing has begun that must be finished."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _usage_width() -> int:
    return (terminal_width(sys.stdout) or sys.maxsize) - _USAGE_INDENT


def unknown_option(word: str, parser: ArgumentParser) -> str:
    """A sentence about an option that does not exist, with the nearest of those that do."""
    near = nearest(word, parser)
    return f"no such option: {word.partition('=')[0]}" + (f"; did you mean {near}?" if near else "")


def nearest(word: str, parser: ArgumentParser) -> str | None:
    """The option that a word resembles; None if it resembles none."""
    known = [option for action in parser._actions for option in action.option_strings]  # noqa: SLF001 - no public list
    return next(iter(get_close_matches(word.partition("=")[0], known, n=1, cutoff=0.7)), None)


def without_stores(settings: BaseSettings) -> None:
    """Settings for a request of one URL that uses neither queue nor stores and needs no server.

    Scrapy's own scheduler and robots.txt middleware replace ours; the guard and the limits of a download stay. The
    priority is that of a spider's settings: above the project's, below `-s`. In another project the add-on brings our
    components later, so those that it will bring are named here, not only those that the settings have.
    """
    off = {
        "DOWNLOADER_MIDDLEWARES": ("circuit.", "robots.", "outcome.", "raw."),
        "SPIDER_MIDDLEWARES": ("leases.",),
        "EXTENSIONS": ("",),
        "ITEM_PIPELINES": ("",),
    }
    own = import_module("feedcrawl.settings")  # not at the top: the list of commands needs no settings
    for name, parts in off.items():
        components = settings.getdict(name)
        known = {*components, *getattr(own, name)}
        ours = [path for path in known if any(f".{part}" in str(path) for part in parts)]
        components.update(dict.fromkeys((path for path in ours if str(path).startswith("feedcrawl.")), None))
        if name == "DOWNLOADER_MIDDLEWARES":
            components["scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"] = 100
        settings.set(name, components, priority="spider")
    settings.set("SCHEDULER", "scrapy.core.scheduler.Scheduler", priority="spider")
    settings.set("FEEDCRAWL_RAW", value=False, priority="spider")
