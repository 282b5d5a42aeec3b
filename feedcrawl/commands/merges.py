"""`scrapy merges list|show|undo`: merged articles, the reason of each merge, and how to separate them again."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from feedcrawl.commands import OnStores, printable

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from feedcrawl.wiring import Wiring


class Command(OnStores, ScrapyCommand):
    """Exit status 2 if the named article was not merged."""

    def syntax(self) -> str:
        """How it is called."""
        return "list [--limit N] [--json] | show UID|URL [--json] | undo UID|URL…"

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "List articles that were joined as one story, and undo joins"

    def add_options(self, parser: ArgumentParser) -> None:
        """--limit and --json."""
        super().add_options(parser)
        parser.add_argument(
            "--limit", metavar="N", type=int, default=20, help="joins listed, newest first (%(default)s)"
        )
        parser.add_argument("--json", action="store_true", help="a JSON array, or an object if one merge is named")

    def answer(self, wired: Wiring, args: list[str], opts: Namespace) -> int:
        """The action that the first argument names."""
        from feedcrawl.commands.exit_status import DONE  # noqa: PLC0415
        from feedcrawl.commands.feeds import array  # noqa: PLC0415 - see the package

        match args:
            case [] | ["list"]:
                found = wired.merges.last(opts.limit)
                _say(*(array(found).splitlines() if opts.json else map(line, found)))
            case ["show", wanted]:
                join = wired.merges.find(wanted)
                _say(*([json.dumps(join)] if opts.json else details(join)))
            case ["undo", _, *_]:
                for wanted in args[1:]:
                    join, outcome = wired.merges.undo(wanted, wired.now())
                    _say(f"{join['uid']} {outcome}: {SAID[outcome]}")
            case _:
                raise UsageError("say list, show UID or undo UID: `scrapy merges list` names them", print_help=False)
        return DONE


SAID = {
    "restored": "the article is there as it was read, and is not joined with this one again",
    "queued": "its own text is not kept; the next crawl fetches its page as an article of its own",
}


def line(join: dict[str, Any]) -> str:
    """A merge in one line."""
    figure = "" if join["similarity"] is None else f" {join['similarity']:.3f}"
    who = f"{join['at']}  {join['uid']} → {join['winner']}  {join['why']}{figure}"
    return f"{who}  {join['url']}  {join['title'] or ''}"


def details(join: dict[str, Any]) -> list[str]:
    """A merge in full."""
    return [f"{name:>14}  {json.dumps(value, ensure_ascii=False)}" for name, value in join.items()]


def _say(*lines: str) -> None:
    for each in lines:
        sys.stdout.write(printable(each) + "\n")
