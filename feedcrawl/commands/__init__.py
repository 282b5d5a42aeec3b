"""Commands of `scrapy`. Scrapy imports every module here for every command, and uses each command class that it
finds. The dependencies of a command are imported when it runs, so that one broken import does not disable all
commands.
"""

from __future__ import annotations

from contextlib import closing
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from argparse import Namespace

    from scrapy.settings import BaseSettings, Settings

    from feedcrawl.wiring import Wiring


class OnStores:
    """Base of commands that use the stores briefly: they may run beside a crawl, and leave no server running.

    `answer` does the work and returns the exit status; expected errors are reported in a sentence. `any_server` as in
    `Wiring`. `only_stores`: the command needs no service, and gets `Stores`. Only commands that store something create
    a data directory (`makes_data`).
    """

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {}
    any_server = False
    makes_data = False
    only_stores = False
    settings: Settings | None
    exitcode: int

    def run(self, args: list[str], opts: Namespace) -> None:
        """Opens the stores, runs `answer`, closes the stores."""
        from feedcrawl.addon import Addon  # noqa: PLC0415 - see the module
        from feedcrawl.commands.exit_status import EXPLAINED, FAILED, explained  # noqa: PLC0415

        assert self.settings is not None
        Addon.update_pre_crawler_settings(self.settings)  # in another project, Scrapy runs add-ons only for a crawl
        try:
            with closing(self._made(self.settings)) as wired:
                if not self.makes_data:
                    wired.require_data()
                self.exitcode = self.answer(wired, args, opts)
        except BrokenPipeError:  # the reader of the pipe has ended, as `| head` does
            self.exitcode = FAILED
        except EXPLAINED as error:
            self.exitcode = explained(error, type(self).__module__.rpartition(".")[2])

    def _made(self, settings: Settings) -> Wiring:
        module, kind = ("stores", "Stores") if self.only_stores else ("process", "Wiring")
        made: Wiring = getattr(import_module(f"feedcrawl.wiring.{module}"), kind)(settings, any_server=self.any_server)
        return made

    def answer(self, wired: Wiring, args: list[str], opts: Namespace) -> int:
        """The command's work."""
        raise NotImplementedError


def printable(value: object) -> str:
    """Text for a terminal or a pipe, without secrets of URLs, line breaks and control characters."""
    from feedcrawl.domain.secrets import without_secrets  # noqa: PLC0415 - see the package

    text = "" if value is None else without_secrets(str(value))
    return "".join(each if each.isprintable() else " " for each in text)


def without_stores(settings: BaseSettings) -> None:
    """Settings for a request of one URL that uses neither queue nor stores and needs no server.

    Scrapy's own scheduler and robots.txt middleware replace ours; the guard and the limits of a download stay. The
    priority is that of a spider's settings: above the project's, below `-s`.
    """
    off = {
        "DOWNLOADER_MIDDLEWARES": ("circuit.", "robots.", "outcome.", "raw."),
        "SPIDER_MIDDLEWARES": ("leases.",),
        "EXTENSIONS": ("",),
        "ITEM_PIPELINES": ("",),
    }
    for name, parts in off.items():
        components = settings.getdict(name)
        ours = [path for path in components if any(f".{part}" in str(path) for part in parts)]
        components.update(dict.fromkeys((path for path in ours if str(path).startswith("feedcrawl.")), None))
        if name == "DOWNLOADER_MIDDLEWARES":
            components["scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"] = 100
        settings.set(name, components, priority="spider")
    settings.set("SCHEDULER", "scrapy.core.scheduler.Scheduler", priority="spider")
    settings.set("FEEDCRAWL_RAW", value=False, priority="spider")
