"""`scrapy why FEED`: when a feed is polled next, who asked for that, and what its last polls came to."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from feedcrawl.commands import OnStores

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator

    from feedcrawl.domain.subscription import Feed
    from feedcrawl.domain.websub import Push
    from feedcrawl.wiring import Wiring


SHOWN = 200
"""Characters of a text that a difference shows."""


class Command(OnStores, ScrapyCommand):
    """Exit status 2 if the feed is not subscribed."""

    def syntax(self) -> str:
        """How it is called."""
        return "[--lines N] [--diff] URL|ID"

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "Explain when a feed is polled next, and what its last polls came to"

    def add_options(self, parser: ArgumentParser) -> None:
        """--lines, --diff."""
        super().add_options(parser)
        parser.add_argument("--diff", action="store_true", help="what its publisher rewrote since the version before")
        parser.add_argument("--lines", type=int, default=10, help="lines of its journal (default: %(default)s)")

    def answer(self, wired: Wiring, args: list[str], opts: Namespace) -> int:
        """The stored decision and the journal."""
        from feedcrawl.ending import UNUSABLE, say  # noqa: PLC0415 - see the package
        from feedcrawl.services import subscriptions  # noqa: PLC0415

        if len(args) != 1:
            raise UsageError("name one feed by URL or id: `scrapy feeds` lists them", print_help=False)
        feed = subscriptions.find(wired.registry, args[0])
        if feed is None:
            say("why", f"{args[0]} is not subscribed; `scrapy feeds` lists what is")
            return UNUSABLE
        if opts.diff:
            return _show(diff(wired, feed))
        journal = wired.registry.journal(feed.id)[: opts.lines]
        return _show((*decision(feed), *hub(wired.pushes.find(feed.id), wired.now()), *map(fetch, journal)))


def _show(lines: Iterable[str]) -> int:
    from feedcrawl.ending import DONE  # noqa: PLC0415 - see the package

    for line in lines:
        sys.stdout.write("".join(each if each.isprintable() else " " for each in line) + "\n")
    return DONE


def decision(feed: Feed) -> Iterator[str]:
    """The feed, its next poll, and each rule that spoke with the wait that it asked for."""
    from feedcrawl.domain.reasons import duration, in_words, winner  # noqa: PLC0415 - see the package
    from feedcrawl.domain.tempo import entries_per_day  # noqa: PLC0415
    from feedcrawl.domain.validators import trust_from  # noqa: PLC0415

    said, polls = feed.subscription, feed.polls
    yield f"{said.title or polls.title or 'feed'}  {said.url}  {feed.id}"
    if polls.last_fetch_at is None:
        yield "Never polled yet: due since it was subscribed."
        return
    waited = f", {duration(polls.interval_sec)} after the last poll" if polls.interval_sec is not None else ""
    yield f"Next poll at {polls.next_at}{waited}, because: {in_words(polls.reason or '')} ({polls.reason})"
    won = winner(polls.reason or "", polls.candidates)
    for rule, wait in polls.candidates:
        yield f"{'→' if rule == won else ' '} {duration(wait):>12}  {in_words(rule)} ({rule})"
    per_day = entries_per_day(polls.cadence_state.arrivals)
    if per_day and polls.interval_sec:
        yield f"Expected: {per_day:.1f} new entries per day, found {duration(polls.interval_sec / 2)} late in the mean"
    for mark in trust_from(polls.trust).marks:
        yield f"Not sent to its server, which has been found out: {mark}"
    if polls.possibly_missed:
        yield f"Entries may have come and gone between two polls, {polls.possibly_missed} times so far"
    errors = feed.polls.cadence_state.errors
    failing = f"; failed {errors} times in a row, last good poll {polls.last_success_at or 'never'}" if errors else ""
    yield f"Last polled at {polls.last_fetch_at}: {polls.last_result} (HTTP {polls.last_status or 'none'}){failing}"


def hub(push: Push | None, now: datetime) -> Iterator[str]:
    """How the push subscription of a feed stands, if its hub was asked for one."""
    from feedcrawl.domain.websub import relied_on, state  # noqa: PLC0415 - see the package
    from feedcrawl.services.polling import rfc3339  # noqa: PLC0415

    if push is None:
        return
    at = now.timestamp()
    because = f" ({push.reason})" if push.reason else ""
    lease = f", its lease ends at {rfc3339(datetime.fromtimestamp(push.current.until, UTC))}" if push.current else ""
    yield f"Hub {push.hub}: {state(push, now=at)}{because}{lease}"
    last = f", the last delivery at {rfc3339(datetime.fromtimestamp(push.pushed_at, UTC))}" if push.pushed_at else ""
    relied = "relied on" if relied_on(push, now=at) else "not relied on: the feed is polled as without a hub"
    yield f"  {push.pushes} pushes with news{last}; {push.misses} misses; {relied}"


def fetch(line: dict[str, Any]) -> str:
    """A line of the journal."""
    counts = " ".join(f"{name}={line[name]}" for name in ("new", "changed", "known", "over_limit") if line.get(name))
    detail = f" — {line['detail']}" if line.get("detail") else ""
    status = line.get("http_status", "-")
    return f"  {line.get('at')}  {status!s:>3}  {line.get('result')}  {counts}  next {line.get('next_at')}{detail}"


def diff(wired: Wiring, feed: Feed) -> Iterator[str]:
    """What the newest version of a feed in the archive says otherwise than the one before, entry by entry."""
    from feedcrawl.domain.rewrites import rewrites  # noqa: PLC0415 - see the package
    from feedcrawl.services.versions import last_versions  # noqa: PLC0415

    found = last_versions(wired.config.data_dir, feed.id, limit=wired.config.max_feed_bytes)
    if len(found) < 2:
        yield "The archive on this machine holds no two versions of this feed (FEEDCRAWL_RAW)."
        return
    newer, older = found
    yield f"{feed.subscription.url}: {newer.at:%Y-%m-%d %H:%M:%S}Z against {older.at:%Y-%m-%d %H:%M:%S}Z"
    differ = False
    for each in rewrites(older.parsed, newer.parsed):
        differ = True
        yield f"{each.kind}{' (silently)' if each.is_silent else ''}: {each.name}"
        for name, before, after in each.fields:
            yield f"  {name}"
            yield f"    - {before[:SHOWN]}"
            yield f"    + {after[:SHOWN]}"
    if not differ:
        yield "Nothing that a reader sees differs."
