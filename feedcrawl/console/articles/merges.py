"""The work of `scrapy merges`: lists, shows and undoes merges."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE, json_array, say, write
from feedcrawl.console.stores import on
from feedcrawl.hints import program
from feedcrawl.wiring import Wiring

if TYPE_CHECKING:
    from argparse import Namespace

    from feedcrawl.domain.articles.records import MergeRecord


@on(Wiring)
def run(wired: Wiring, args: list[str], opts: Namespace) -> int:
    """The action that the first argument names."""
    match args:
        case [] | ["list"]:
            found = wired.merges.last(opts.limit)
            write(*(json_array(found).splitlines() if opts.json else map(line, found)))
            if not (found or opts.json):
                say("merges", "no articles have been merged")
        case ["show", name]:
            merge = wired.merges.find(name)
            write(*([json.dumps(merge)] if opts.json else details(merge)))
        case ["undo", _, *_]:
            for name in args[1:]:
                merge, outcome = wired.merges.undo(name, wired.now())
                write(f"{merge['uid']} {outcome}: {SAID[outcome]}")
        case _:
            raise UsageError(f"say list, show UID or undo UID: `{program()} merges list` names them", print_help=False)
    return DONE


SAID = {
    "restored": "the article is there as it was read, and is not merged with this one again",
    "queued": "its own text is not kept; the next crawl fetches its page as an article of its own",
}


def line(merge: MergeRecord) -> str:
    """A merge in one line."""
    figure = "" if merge["similarity"] is None else f" {merge['similarity']:.3f}"
    who = f"{merge['at']}  {merge['uid']} → {merge['winner']}  {merge['why']}{figure}"
    return f"{who}  {merge['url']}  {merge['title'] or ''}"


def details(merge: MergeRecord) -> list[str]:
    """A merge in full."""
    return [f"{name:>14}  {json.dumps(value, ensure_ascii=False)}" for name, value in merge.items()]
