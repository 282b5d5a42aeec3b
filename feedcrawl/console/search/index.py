"""The work of `scrapy index`: runs the consumer of the search index until a signal, or prints the index's state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.operations.consuming import consume
from feedcrawl.console.output import DONE, say, write_json
from feedcrawl.console.stores import on
from feedcrawl.domain.errors import ConfigError
from feedcrawl.extensions import logs
from feedcrawl.services.search import server
from feedcrawl.wiring import Wiring

if TYPE_CHECKING:
    from argparse import Namespace


@on(Wiring, makes_data=True)
def run(wired: Wiring, args: list[str], opts: Namespace) -> int:  # noqa: ARG001 - no names
    """Indexes until SIGTERM or Ctrl-C."""
    if opts.status:
        write_json({"documents": wired.search.count()})
        return DONE
    logs.install(wired.settings)
    consumer = wired.indexer()
    if wired.config.search == "off":
        raise ConfigError("FEEDCRAWL_SEARCH is off: set it to embedded")
    if consumer is None:
        consumer = server.indexer(wired.server_indexing, worker=wired.worker)
        if opts.rebuild:
            say("index", f"{server.rebuild(wired.server_indexing)} lines of articles/ indexed anew")
    elif opts.rebuild:
        wired.embedded_index.request_rebuild()
    sentence = "{sent} documents changed, {refused} events refused"
    return consume("index", consumer, once=opts.once, sentence=sentence)
