"""`scrapy replay`: extracts articles again from the archive and prints the differences; `--write` stores them."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from feedcrawl.commands import OnStores, printable

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from feedcrawl.domain.articles.replays import Replayed, Wanted
    from feedcrawl.wiring import Wiring

SHOWN = 80
"""Characters of a value that a line shows."""
SILENT = frozenset({"same", "fails_as_before"})


class Command(OnStores, ScrapyCommand):
    """Sends no request. Exit status 2 if no capture in the archive matched."""

    def syntax(self) -> str:
        """How it is called."""
        return "[options]"

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "Read archived pages again, and say (or --write) what today's extraction makes of them"

    def add_options(self, parser: ArgumentParser) -> None:
        """The conditions."""
        super().add_options(parser)
        parser.add_argument("--since", metavar="TIME", help="fetched since: 2026-11-28, or 2026-11-28T12:00 (UTC)")
        parser.add_argument("--until", metavar="TIME", help="fetched until the end of this day, or before this moment")
        parser.add_argument("--feed", metavar="URL|ID", help="named by this feed")
        parser.add_argument("--host", help="fetched from this host")
        parser.add_argument("--uid", help="fetched for the article with this uid")
        parser.add_argument("--url", help="fetched from this URL")
        parser.add_argument("--write", action="store_true", help="store the differences, and send their events")
        parser.add_argument(
            "--json", action="store_true", help="a line of JSON for each page, and a last line with the counts"
        )

    def answer(self, wired: Wiring, args: list[str], opts: Namespace) -> int:
        """Replays, and prints the results."""
        from feedcrawl.commands.exit_status import DONE, UNUSABLE, say  # noqa: PLC0415 - see the package

        if args:
            raise UsageError("conditions are options: --url URL, --since DAY, …", print_help=False)
        counts = asyncio.run(_replay(wired, _wanted(opts), _feed_id(wired, opts.feed), opts))
        if not counts:
            say("replay", "the archive of this data directory holds no page that is meant (raw/, FEEDCRAWL_RAW)")
        return DONE if counts else UNUSABLE


async def _replay(wired: Wiring, wanted: Wanted, feed_id: str | None, opts: Namespace) -> Counter[str]:

    counts: Counter[str] = Counter()
    try:
        async for each in wired.replay.run(wanted, feed_id=feed_id, write=opts.write):
            counts[each.outcome] += 1
            counts.update({"written": 1} if each.written else {})
            counts.update(f"changed {name}" for name in each.changes)
            if opts.json:
                _say(json.dumps(asdict(each), ensure_ascii=False))
            elif each.outcome not in SILENT:
                _say(*map(printable, lines(each)))
    finally:
        await wired.parsers.close()
    told = dict(sorted(counts.items()))
    _say(json.dumps(told) if opts.json else ", ".join(f"{count} {name}" for name, count in told.items()))
    return counts


def lines(each: Replayed) -> list[str]:
    """The result of a page, with a line for each field that differs."""
    written = " written" if each.written else ""
    reason = f"  {each.reason}" if each.reason else ""
    changes = [f"  {name}: {_brief(old)} → {_brief(new)}" for name, (old, new) in each.changes.items()]
    return [f"{each.fetched_at}  {each.uid}  {each.outcome}{written}{reason}  {each.url}", *changes]


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _wanted(opts: Namespace) -> Wanted:
    from feedcrawl.domain.articles.replays import Wanted, moment  # noqa: PLC0415 - see the package

    return Wanted(
        since=moment(opts.since) if opts.since else None,
        until=moment(opts.until, end=True) if opts.until else None,
        host=opts.host.lower() if opts.host else None,
        uid=opts.uid,
        url=opts.url,
    )


def _feed_id(wired: Wiring, name: str | None) -> str | None:
    """The feed's id; a feed that is not subscribed (any more) can only be named by its id."""
    from feedcrawl.services.subscriptions import finding  # noqa: PLC0415 - see the package

    if name is None:
        return None
    feed = finding.find(wired.registry, name)
    return name if feed is None else feed.id


def _say(*told: str) -> None:
    for each in told:
        sys.stdout.write(f"{each}\n")
