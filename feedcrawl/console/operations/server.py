"""The work of `scrapy redis`: prints how to reach the server, and keeps the embedded server while it is needed."""

from __future__ import annotations

import shlex
import signal
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE, say, write
from feedcrawl.console.stores import on
from feedcrawl.hints import program
from feedcrawl.wiring.stores import Stores

if TYPE_CHECKING:
    from argparse import Namespace


@on(Stores, makes_data=True)
def run(wired: Stores, args: list[str], opts: Namespace) -> int:
    """Prints the command line, and stays with --keep."""
    if args:
        raise UsageError("redis takes no arguments", print_help=False)
    path = wired.connection.socket_path
    if path is None:
        say("redis", "REDIS_URL names a server: connect to that")
        return DONE
    write(f"redis-cli -s {shlex.quote(str(path))}")
    if opts.keep:
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
    else:
        say("redis", f"the server runs while a command of feedcrawl runs; `{program()} redis --keep` keeps it running")
    return DONE
