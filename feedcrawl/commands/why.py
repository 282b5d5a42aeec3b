"""`scrapy why FEED`: when a feed is polled next, who asked for that, and what its last polls came to."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from feedcrawl.commands import OnStores

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from feedcrawl.domain.subscription import Feed
    from feedcrawl.wiring import Wiring


class Command(OnStores, ScrapyCommand):
    """Exit status 2 if the feed is not subscribed."""

    def syntax(self) -> str:
        """How it is called."""
        return "[--lines N] URL|ID"

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "Explain when a feed is polled next, and what its last polls came to"

    def add_options(self, parser: ArgumentParser) -> None:
        """--lines."""
        super().add_options(parser)
        parser.add_argument("--lines", type=int, default=10, help="lines of its journal (default: %(default)s)")

    def answer(self, wired: Wiring, args: list[str], opts: Namespace) -> int:
        """The stored decision and the journal."""
        from feedcrawl.ending import DONE, UNUSABLE, say  # noqa: PLC0415 - see the package
        from feedcrawl.services import subscriptions  # noqa: PLC0415

        if len(args) != 1:
            raise UsageError("name one feed by URL or id: `scrapy feeds` lists them", print_help=False)
        feed = subscriptions.find(wired.registry, args[0])
        if feed is None:
            say("why", f"{args[0]} is not subscribed; `scrapy feeds` lists what is")
            return UNUSABLE
        journal = wired.registry.journal(feed.id)[: opts.lines]
        for line in (*decision(feed), *map(fetch, journal)):
            sys.stdout.write("".join(each if each.isprintable() else " " for each in line) + "\n")
        return DONE


def decision(feed: Feed) -> Iterator[str]:
    """The feed, its next poll, and each rule that spoke with the wait that it asked for."""
    from feedcrawl.domain.reasons import duration, in_words  # noqa: PLC0415 - see the package

    said, polls = feed.subscription, feed.polls
    yield f"{said.title or polls.title or 'feed'}  {said.url}  {feed.id}"
    if polls.last_fetch_at is None:
        yield "Never polled yet: due since it was subscribed."
        return
    waited = f", {duration(polls.interval_sec)} after the last poll" if polls.interval_sec is not None else ""
    yield f"Next poll at {polls.next_at}{waited}, because: {in_words(polls.reason or '')} ({polls.reason})"
    for rule, wait in polls.candidates:
        yield f"  {duration(wait):>12}  {in_words(rule)} ({rule})"
    errors = feed.polls.cadence_state.errors
    failing = f"; failed {errors} times in a row, last good poll {polls.last_success_at or 'never'}" if errors else ""
    yield f"Last polled at {polls.last_fetch_at}: {polls.last_result} (HTTP {polls.last_status or 'none'}){failing}"


def fetch(line: dict[str, Any]) -> str:
    """A line of the journal."""
    counts = " ".join(f"{name}={line[name]}" for name in ("new", "changed", "known", "over_limit") if line.get(name))
    detail = f" — {line['detail']}" if line.get("detail") else ""
    status = line.get("http_status", "-")
    return f"  {line.get('at')}  {status!s:>3}  {line.get('result')}  {counts}  next {line.get('next_at')}{detail}"
