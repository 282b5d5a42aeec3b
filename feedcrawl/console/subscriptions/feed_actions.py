"""Actions of `scrapy feeds` besides listing: move feeds, override their cadence, show the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE, UNUSABLE, say, write
from feedcrawl.console.stores import on
from feedcrawl.console.subscriptions.login import headers_of
from feedcrawl.domain.cadence.reasons import duration
from feedcrawl.domain.cadence.tempo import forecast, tempo_for
from feedcrawl.domain.errors import Refusal
from feedcrawl.hints import program
from feedcrawl.services.subscriptions import discovery, finding, lineage, registering
from feedcrawl.wiring.stores import Stores

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    from feedcrawl.domain.subscriptions.records import Feed, Subscription

_SAMPLE: Final = 10_000
"""Feeds that the budget is estimated from: the estimates of a million feeds take a minute to read. The standard error
of the polls is 2 % if waits are spread evenly over the magnitudes from a minute to a week.
"""
HELP = """
  feeds move FEED URL          the same feed, from now on at this address
  feeds undo-move FEED         back to where it was before it moved
  feeds undo-migration FEED    entries that came under new ids and links come as new
  feeds set FEED NAME=VALUE…   overrides; NAME= takes one back
  feeds pause|resume FEED      no polls until it is resumed
  feeds login FEED USER:PASSWORD|'NAME: VALUE'|@FILE…
                               headers for its own origin alone, in place of those it has; none removes them
"""


@on(Stores)
def run(wired: Stores, args: list[str], opts: Namespace) -> int:
    """The budget, or the action that the first word names."""
    return budget(wired) if opts.budget else act(wired, args[0], args[1:])


def act(wired: Stores, action: str, args: Sequence[str]) -> int:
    """Runs an action and prints the feed's address, or the error."""
    if len(args) != 2 if action == "move" else not args:
        raise UsageError(f"`{program()} feeds {action}` takes a feed and what to do:{HELP}", print_help=False)
    feed = finding.find(wired.registry, args[0])
    if feed is None:
        say("feeds", f"{args[0]} is not subscribed; `{program()} feeds` lists what is")
        return UNUSABLE
    try:
        subscription = ACTIONS[action](wired, feed, args[1:])
    except Refusal as refused:
        say("feeds", f"{args[0]}: {refused.detail} ({refused.code})")
        return UNUSABLE
    write(f"{subscription.id}  {subscription.url}")
    return DONE


def _move(wired: Stores, feed: Feed, args: Sequence[str]) -> Subscription:
    return discovery.move_to(wired.registry, wired.frontier, feed, args[0], wired.now())


def _undo_move(wired: Stores, feed: Feed, _args: Sequence[str]) -> Subscription:
    return discovery.undo_move(wired.registry, wired.frontier, feed, wired.now())


def _undo_migration(wired: Stores, feed: Feed, _args: Sequence[str]) -> Subscription:
    lineage.undo_migration(wired.registry, wired.entries, wired.frontier, feed, wired.now())
    return feed.subscription


def _set(wired: Stores, feed: Feed, args: Sequence[str]) -> Subscription:
    return registering.override(wired.registry, wired.frontier, feed, args)


def _pause(wired: Stores, feed: Feed, _args: Sequence[str]) -> Subscription:
    return registering.change(wired.registry, wired.frontier, feed, {"paused": True})


def _resume(wired: Stores, feed: Feed, _args: Sequence[str]) -> Subscription:
    return registering.change(wired.registry, wired.frontier, feed, {"paused": False})


def _login(wired: Stores, feed: Feed, args: Sequence[str]) -> Subscription:
    return registering.log_in(wired.registry, wired.frontier, feed, headers_of(args))


ACTIONS: dict[str, Callable[[Stores, Feed, Sequence[str]], Subscription]] = {
    "move": _move,
    "undo-move": _undo_move,
    "undo-migration": _undo_migration,
    "set": _set,
    "pause": _pause,
    "resume": _resume,
    "login": _login,
}


def budget(wired: Stores) -> int:
    """The demand of all feeds, the tempo that follows from the budget, and the predicted delay."""
    registry, limit = wired.registry, wired.config.polls_per_hour
    demand, count, sample = registry.demand(), registry.count(), registry.some(_SAMPLE)
    polled = [feed.polls for feed in finding.each(registry, sample) if feed.polls.interval_sec]
    estimates = ((polls.cadence_state.arrivals, polls.interval_sec or 0.0) for polls in polled)
    bought = forecast(estimates, each_for=count / len(sample) if sample else 1.0)
    kept = f"{limit:g} polls per hour" if limit is not None else "none (FEEDCRAWL_POLLS_PER_HOUR)"
    write(
        f"Budget: {kept}. Demand: {demand * 3600:.1f} polls per hour; tempo {tempo_for(demand, limit):.3f}.",
        f"Scheduled: {bought.polls_per_hour:.1f} polls per hour for {bought.entries_per_day:.1f} new entries per day.",
        f"Mean delay from publication to the poll: {duration(bought.delay_sec)}.",
        f"With twice the polls {duration(bought.delay_sec / 2)}, with half {duration(bought.delay_sec * 2)}.",
        *([f"Estimated from {len(sample)} random feeds of {count}."] if len(sample) < count else []),
    )
    return DONE
