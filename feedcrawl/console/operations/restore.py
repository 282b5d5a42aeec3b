"""The work of `scrapy restore`: stores again what the data directory remembers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE
from feedcrawl.console.stores import on
from feedcrawl.wiring import Wiring

if TYPE_CHECKING:
    from argparse import Namespace


@on(Wiring, any_server=True)
def run(wired: Wiring, args: list[str], opts: Namespace) -> int:
    """Restores, and accepts the server from now on."""
    if args:
        raise UsageError(
            "restore takes no arguments: it restores the subscriptions of the data directory", print_help=False
        )
    if opts.accept:
        wired.generation.accept()
        sys.stdout.write("the server is taken as it is\n")
        return DONE
    if not opts.again and wired.readiness.same_server():
        feeds, sitemaps = wired.registry.count(), wired.sitemaps.count()
        sys.stdout.write(
            f"nothing to restore: the server has the data of this directory ({feeds} feeds, {sitemaps} sitemaps); "
            "--again restores what is missing all the same\n"
        )
        return DONE
    came = wired.snapshots.restore(wired.now())
    sys.stdout.write(f"{came.feeds} feeds, {came.sitemaps} sitemaps and {came.articles} articles are there again\n")
    return DONE
