"""The work of `scrapy restore`: stores again what the data directory remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE, write
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
        write("the server is accepted as it is")
        return DONE
    if not opts.again and wired.readiness.same_server():
        feeds, sitemaps = wired.registry.count(), wired.sitemaps.count()
        write(
            f"nothing to restore: the server has the data of this directory ({feeds} feeds, {sitemaps} sitemaps); "
            "--again restores what is missing all the same"
        )
        return DONE
    came = wired.snapshots.restore(wired.now())
    write(f"{came.feeds} feeds, {came.sitemaps} sitemaps and {came.articles} articles are there again")
    return DONE
