"""The work of `scrapy feeds`: lists feeds, or runs one of its actions."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

from feedcrawl.console.output import DONE, UNUSABLE, json_array, say
from feedcrawl.console.stores import on
from feedcrawl.console.subscriptions import feed_actions
from feedcrawl.console.tables import write_table
from feedcrawl.hints import program
from feedcrawl.services.subscriptions import finding
from feedcrawl.wiring.stores import Stores

if TYPE_CHECKING:
    from argparse import Namespace

    from feedcrawl.domain.subscriptions.published import FeedRecord


_COLUMNS: Final = ("feed", "title", "categories", "last result", "last fetch", "next poll", "errors", "id")


@on(Stores)
def run(wired: Stores, args: list[str], opts: Namespace) -> int:
    """The named feeds, or all by URL; or the action that the first word names."""
    if opts.budget:
        return feed_actions.budget(wired)
    if args and args[0] in feed_actions.ACTIONS:
        return feed_actions.act(wired, args[0], args[1:])
    named = [(name, finding.find(wired.registry, name)) for name in args]
    feeds = [feed for _, feed in named if feed is not None]
    if not args:
        batches = finding.batches(wired.registry, [], 500)
        feeds = sorted((feed for batch in batches for feed in batch), key=lambda feed: feed.subscription.url)
    bounds = {
        "min_interval_sec": wired.config.min_interval_sec,
        "max_interval_sec": wired.config.max_interval_sec,
    }
    shown = [feed.public(**bounds) for feed in feeds]
    if not opts.json:
        write_table(_COLUMNS, map(_row, shown))
    elif shown or not args:
        sys.stdout.write(json.dumps(shown[0]) + "\n" if len(args) == 1 else json_array(shown))
    unknown = [name for name, feed in named if feed is None]
    for name in unknown:
        say("feeds", f"{name} is not subscribed; `{program()} feeds` lists what is")
    return UNUSABLE if unknown else DONE


def _row(feed: FeedRecord) -> tuple[object, ...]:
    schedule, stats = feed["schedule"], feed["stats"]
    return (
        feed["url"],
        feed["title"],
        ", ".join(feed["categories"]),
        "paused" if feed["paused"] else stats["last_result"] or "never polled",
        _minute(stats["last_fetch_at"]),
        "" if feed["paused"] else _minute(schedule["next_at"]) or "now",
        stats["consecutive_failures"] or "",
        feed["id"],
    )


def _minute(moment: str | None) -> str:
    return moment[:16].replace("T", " ") + "Z" if moment else ""
