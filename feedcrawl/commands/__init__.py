"""Commands of `scrapy`. Scrapy imports every module here whatever is asked for, and takes every command class that it
finds in one: what a command needs is imported when it runs, so that one broken import does not take all of them away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from argparse import Namespace

    from scrapy.settings import Settings

    from feedcrawl.wiring import Wiring


class OnStores:
    """Base of the commands that look at the stores and go: they may run beside a crawl, and leave no server behind.

    `answer` does the work and returns the exit status; what it may expect to go wrong ends in a sentence.
    """

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {}
    settings: Settings | None
    exitcode: int

    def run(self, args: list[str], opts: Namespace) -> None:
        """Opens the stores, answers, closes them."""
        from feedcrawl.ending import FAILED, explained  # noqa: PLC0415 - see the module
        from feedcrawl.wiring import Wiring  # noqa: PLC0415

        assert self.settings is not None
        wired = None
        try:
            wired = Wiring(self.settings)
            self.exitcode = self.answer(wired, args, opts)
        except BrokenPipeError:  # `| head` has read enough
            self.exitcode = FAILED
        except Exception as error:
            status = explained(error, type(self).__module__.rpartition(".")[2])
            if status is None:
                raise
            self.exitcode = status
        finally:
            if wired is not None:
                wired.close()

    def answer(self, wired: Wiring, args: list[str], opts: Namespace) -> int:
        """The command's work."""
        raise NotImplementedError
