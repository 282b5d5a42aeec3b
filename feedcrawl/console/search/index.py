"""The work of `scrapy index`: runs the consumer of the search index until a signal, or prints the index's state."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from feedcrawl.console.operations.consuming import consume, worker_name
from feedcrawl.console.output import DONE, FAILED, say
from feedcrawl.console.stores import on
from feedcrawl.extensions import logs
from feedcrawl.services.search import server
from feedcrawl.wiring import Wiring

if TYPE_CHECKING:
    from argparse import Namespace


@on(Wiring, makes_data=True)
def run(wired: Wiring, args: list[str], opts: Namespace) -> int:
    """Indexes until SIGTERM or Ctrl-C."""
    if args:
        raise UsageError("it takes no name", print_help=False)
    if opts.status:
        sys.stdout.write(json.dumps({"documents": wired.search.count()}) + "\n")
        return DONE
    logs.install(wired.settings)
    consumer = wired.indexer()
    if wired.config.search == "off":
        raise ValueError("FEEDCRAWL_SEARCH is off: set it to embedded")
    if consumer is None:
        consumer = server.indexer(wired.server_indexing, worker=worker_name())
        if opts.rebuild:
            say("index", f"{server.rebuild(wired.server_indexing)} lines of articles/ indexed anew")
    elif opts.rebuild:
        wired.embedded_index.ask_rebuild()
    ended_well = consume(consumer, once=opts.once)
    say("index", f"{consumer.sent} documents changed, {consumer.refused} events refused")
    return DONE if ended_well else FAILED
