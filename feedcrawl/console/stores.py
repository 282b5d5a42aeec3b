"""Runs the work of a command on the stores, and reports expected errors in one sentence."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Final, TypeVar

from feedcrawl.addon import Addon
from feedcrawl.console.output import FAILED, UNUSABLE, say
from feedcrawl.domain.errors import ConfigError, Refusal
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import ServerRefused, StoreUnavailable
from feedcrawl.store.search.interface import IndexUnavailable

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from feedcrawl.console.command import StoreCommand
    from feedcrawl.wiring.stores import Stores

    Run = Callable[[StoreCommand, list[str], Namespace], int]

_UNAVAILABLE: Final = (StoreUnavailable, DiskUnavailable, IndexUnavailable)
_SHORT: Final = (ServerRefused, Refusal, IndexUnavailable)
"""Errors whose detail is the sentence."""
EXPLAINED: Final = (ConfigError, ServerRefused, *_UNAVAILABLE, Refusal, ValueError)
"""Errors that are reported in one sentence; any other error is a bug, and is reported with its traceback."""
_BROKEN_SERVERS: Final = frozenset(
    {"data_dir", "aof_damaged", "not_starting", "silent", "unreachable", "emptied", "another_server"}
)
"""ServerRefused codes of servers that do not work; the other codes call for other settings."""

S = TypeVar("S", bound="Stores")


def on(
    kind: type[S], *, any_server: bool = False, makes_data: bool = False
) -> Callable[[Callable[[S, list[str], Namespace], int]], Run]:
    """Makes a function of stores, arguments and options the `run` of a command; the function returns the exit status.

    `kind` is `Stores`, or `Wiring` where the services are needed too; `any_server` is passed to it. Only commands that
    store something create a data directory (`makes_data`).
    """

    def decorated(work: Callable[[S, list[str], Namespace], int]) -> Run:
        def run(command: StoreCommand, args: list[str], opts: Namespace) -> int:
            assert command.settings is not None
            # In another project, Scrapy has add-ons for crawls only.
            Addon.update_pre_crawler_settings(command.settings)
            try:
                with closing(kind(command.settings, any_server=any_server)) as wired:
                    if not makes_data:
                        wired.require_data()
                    return work(wired, args, opts)
            except BrokenPipeError:  # the reader of the pipe has ended, as `| head` does
                return FAILED
            except EXPLAINED as error:
                return explained(error, command.name)

        return run

    return decorated


def explained(error: BaseException, command: str) -> int:
    """Writes the error to standard error in a sentence, and returns the exit status."""
    detail = getattr(error, "detail", None)
    say(command, f"{detail} ({error.code})" if detail and isinstance(error, _SHORT) else str(error))
    if isinstance(error, _UNAVAILABLE):
        return FAILED
    return FAILED if isinstance(error, ServerRefused) and error.code in _BROKEN_SERVERS else UNUSABLE
