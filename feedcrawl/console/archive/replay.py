"""The work of `scrapy replay`: extracts archived pages again, and prints or stores the differences."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE, UNUSABLE, brief, say, write
from feedcrawl.console.stores import on
from feedcrawl.domain.articles.replays import CaptureFilter, moment
from feedcrawl.services.subscriptions import finding
from feedcrawl.wiring import Wiring

if TYPE_CHECKING:
    from argparse import Namespace

    from feedcrawl.domain.articles.replays import Replayed

SHOWN = 80
"""Characters of a value that a line shows."""
SILENT = frozenset({"same", "fails_as_before"})


@on(Wiring)
def run(wired: Wiring, args: list[str], opts: Namespace) -> int:
    """Replays, and prints the results."""
    if args:
        raise UsageError("conditions are options: --url URL, --since DAY, …", print_help=False)
    counts = asyncio.run(_replay(wired, _conditions(opts), _feed_id(wired, opts.feed), opts))
    if not counts:
        say("replay", "no page in the archive of this data directory (raw/) meets the conditions")
    return DONE if counts else UNUSABLE


async def _replay(wired: Wiring, conditions: CaptureFilter, feed_id: str | None, opts: Namespace) -> Counter[str]:
    counts: Counter[str] = Counter()
    try:
        async for each in wired.replay.run(conditions, feed_id=feed_id, write=opts.write):
            counts[each.outcome] += 1
            counts.update({"written": 1} if each.written else {})
            counts.update(f"changed {name}" for name in each.changes)
            if opts.json:
                sys.stdout.write(f"{json.dumps(asdict(each), ensure_ascii=False)}\n")
            elif each.outcome not in SILENT:
                write(*lines(each))
    finally:
        await wired.parsers.close()
    totals = dict(sorted(counts.items()))
    write(json.dumps(totals) if opts.json else ", ".join(f"{count} {name}" for name, count in totals.items()))
    return counts


def lines(each: Replayed) -> list[str]:
    """The result of a page, with a line for each field that differs."""
    written = " written" if each.written else ""
    reason = f"  {each.reason}" if each.reason else ""
    changes = [f"  {name}: {brief(old, SHOWN)} → {brief(new, SHOWN)}" for name, (old, new) in each.changes.items()]
    return [f"{each.fetched_at}  {each.uid}  {each.outcome}{written}{reason}  {each.url}", *changes]


def _conditions(opts: Namespace) -> CaptureFilter:
    return CaptureFilter(
        since=moment(opts.since) if opts.since else None,
        until=moment(opts.until, end=True) if opts.until else None,
        host=opts.host.lower() if opts.host else None,
        uid=opts.uid,
        url=opts.url,
    )


def _feed_id(wired: Wiring, name: str | None) -> str | None:
    """The feed's id; a feed that is not subscribed (any more) can only be named by its id."""
    if name is None:
        return None
    feed = finding.find(wired.registry, name)
    return name if feed is None else feed.id
