"""A day of `crawl feeds -a forever=1`, in simulated time: does the fleet keep its budget, and what does that buy?

    python benchmarks/day.py [--feeds 2000] [--hosts 500] [--polls 24] [--days 2] [--outage HOURS] [--seed 7]
                             [--policy learned|baseline] [--fairness 0.35] [--learnt DAYS]

The frontier, the registry and `services.polling` are the product's own on a Redis of their own; the clock, which the
frontier takes as an argument, leaps to the next poll. Publishers are made up: entries per day are log-normal (median 3,
a few hundred at the top), four times as many in the working hours of some time zone, one feed in ten comes at fixed
minutes; feeds show 20 entries, a tenth has a `ttl` of an hour, and one poll in fifty fails with 503. A tenth of the
feeds has no dates, another tenth shows its entries half an hour after their dates, on average; every six hours all
workers pause for ten minutes. Hosts are drawn by Zipf's law and paced at one request a second. `--polls` is the budget,
per feed and day. The last day counts. `--learnt` is the number of days for which the policy has polled the feeds
before, in memory and without failures.

`found` is the delay from publication to the poll that brings an entry; `forecast` is the delay that the first hour of
that day predicts, and `least` the delay of a policy that knows every rate. `late` is how long a feed that is due waits
for its host and its turn. An `--outage` stops the world before the last day for so many hours.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
import time
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from feedcrawl.domain import dates
from feedcrawl.domain.cadence import CadencePolicy, Observation, PollState, next_poll, to_json
from feedcrawl.domain.cadence.tempo import demand, forecast
from feedcrawl.domain.http.conditional import Validators
from feedcrawl.domain.models import ParsedEntry, ParsedFeed
from feedcrawl.domain.publisher_hints import PublisherHints
from feedcrawl.domain.subscriptions.specs import SubscriptionSpec
from feedcrawl.items import ComparedEntries, Decided, FeedFound, FeedPoll, FeedReceived, FeedRequested
from feedcrawl.services.subscriptions import catch_up, journal, polling, registering
from feedcrawl.services.subscriptions.tempo import Tempo
from feedcrawl.store.frontier.interface import Ending
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.subscriptions.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.subscriptions.records import Feed

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "site"))

from redis_process import running_redis

HOUR, DAY = 3600, 86_400
START = int(datetime(2026, 11, 23, tzinfo=UTC).timestamp())
HISTORY = 60 * DAY
WINDOW, BODY_BYTES = 20, 40_000
FAILING = 0.02
UNDATED, LATE, LATE_SEC = 0.1, 0.1, 1_800.0
PAUSE_EVERY_SEC, PAUSE_SEC = 6 * HOUR, 600.0


@dataclass
class Publisher:
    """The times at which a feed's entries appear (Unix seconds), how much earlier their dates are (None: no dates), and
    the number of entries and the state that the last poll left.
    """

    times: list[float]
    rate: Callable[[float], float]
    """Entries per second at a time."""
    hourly_ttl: bool
    early_sec: list[float] | None = None
    seen: int = 0
    state: PollState = field(default_factory=PollState)

    def shown(self, now: float) -> tuple[int, int]:
        """The first and the last of the entries that the document shows, as a slice."""
        last = bisect_right(self.times, now)
        return max(last - WINDOW, 0), last

    def dates(self, first: int, last: int) -> tuple[datetime | None, ...]:
        """The dates of these entries, newest first."""
        if self.early_sec is None:
            return (None,) * (last - first)
        moments = [self.times[number] - self.early_sec[number] for number in range(first, last)]
        return tuple(datetime.fromtimestamp(moment, UTC) for moment in reversed(moments))


@dataclass
class Seen:
    """What the measured day came to."""

    results: Counter[str] = field(default_factory=Counter)
    late: list[float] = field(default_factory=list)
    found: list[float] = field(default_factory=list)
    missed: int = 0
    hours: Counter[int] = field(default_factory=Counter)


def publisher(chance: random.Random, end: float) -> Publisher:
    """One feed's life so far and to come."""
    per_day = min(chance.lognormvariate(1.1, 1.5), 400.0)
    zone, timed = chance.randrange(24), per_day < 50 and chance.random() < 0.1
    times, at, peak = list[float](), float(START - HISTORY), 2.4 * per_day / DAY

    def rate(at: float) -> float:
        working = (at // HOUR + zone) % 24 < 9 and (at // DAY + 3) % 7 < 5
        return peak * (1.0 if working else 0.25)

    while (at := at + chance.expovariate(peak)) < end:
        if chance.random() < rate(at) / peak:
            times.append(at // HOUR * HOUR + 300 if timed else at)
    ttl, kind = chance.random() < 0.1, chance.random()
    late = UNDATED <= kind < UNDATED + LATE
    early = [chance.expovariate(1 / LATE_SEC) if late else 0.0 for _ in times]
    return Publisher(times, rate, ttl, None if kind < UNDATED else early)


def make_known(source: Publisher, days: float, policy: CadencePolicy, chance: random.Random) -> None:
    """Polls a publisher for so many days up to START, in memory."""
    at = START - days * DAY + chance.random() * HOUR
    while at < START:
        first, last = source.shown(at)
        new = last - max(source.seen, first)
        dated = tuple(date for date in source.dates(first, last) if date) if new else ()
        moment = datetime.fromtimestamp(at, UTC)
        known = last - first - new if new else 0
        seen = Observation(200 if new else 304, new, known, dated, (moment,) * new)
        decision = next_poll(source.state, seen, now=moment, policy=policy, jitter=chance.uniform(-1, 1))
        source.seen, source.state, at = last, decision.state, decision.next_at.timestamp()


class World:
    """The publishers, a worker that polls them, and its clock."""

    def __init__(self, client: Any, options: argparse.Namespace) -> None:
        self.chance = random.Random(options.seed)
        self.now = float(START)
        self.end = START + options.days * DAY + options.outage * HOUR
        budget = options.feeds * options.polls / 24
        self.registry = Registry(client)
        policy = FrontierPolicy(host_delay_sec=1.0, lease_sec=3600)
        self.frontier = Shard(client, policy, clock=lambda: round(self.now * 1000))
        cadence = CadencePolicy(name=options.policy, fairness=options.fairness)
        self.tempo = Tempo(self.registry, cadence, budget)
        self.publishers: dict[str, Publisher] = {}
        self.seen = Seen()
        weights = [1 / rank for rank in range(1, options.hosts + 1)]
        hosts = self.chance.choices(range(options.hosts), weights, k=options.feeds)
        for number, host in enumerate(hosts):
            spec = SubscriptionSpec(f"http://site-{host}.test/feed-{number}")
            feed_id, _ = registering.subscribe(self.registry, self.frontier, spec, self.moment())
            self.publishers[feed_id] = publisher(self.chance, self.end)
        for source in self.publishers.values():
            make_known(source, options.learnt, replace(cadence, tempo=24 / options.polls), self.chance)

    def moment(self) -> datetime:
        """Now, as a date."""
        return datetime.fromtimestamp(self.now, UTC)

    def run(self, until: float) -> None:
        """Polls what is due, and leaps, until that time."""
        while self.now < until:
            if self.now % PAUSE_EVERY_SEC < PAUSE_SEC:
                self.now += PAUSE_SEC - self.now % PAUSE_EVERY_SEC
            taken = self.frontier.take(16)
            if taken.leases:
                ids = [lease.id.removeprefix("feed:") for lease in taken.leases]
                feeds = self.registry.load(ids)
                self.frontier.end(
                    [self.poll(lease, feeds[each]) for lease, each in zip(taken.leases, ids, strict=True)]
                )
            else:
                self.now = min(until, self.now + max(taken.wait_sec or 1.0, 0.001))

    def poll(self, lease: Lease, feed: Feed) -> Ending:
        """One poll, from the answer to the commit."""
        poll = self.answered(lease, feed)
        policy = self.tempo.policy(poll.received.at)
        decision = polling.decide(poll, None, policy, self.chance.uniform(-1, 1))
        decided = Decided(decision, demand(policy.tempo, decision.interval_sec), feed.subscription)
        self.note(poll)
        line = journal.journal_line(poll, decided)
        commit = self.registry.commit(feed.id, polling.poll_record(poll, decided), line)
        commit += self.registry.demand_changed(feed.id, decided.demand - feed.polls.demand)
        return Ending(lease, "pending", poll.received.result, decision.interval_sec, commit=commit, signal="ok")

    def answered(self, lease: Lease, feed: Feed) -> FeedPoll:
        """The publisher's response now: 503, 304, or its newest entries."""
        source, at = self.publishers[feed.id], self.moment()
        first, last = source.shown(self.now)
        known_before = feed.polls.last_success_at is not None
        if not known_before:
            feed = replace(feed, polls=replace(feed.polls, cadence=to_json(source.state)))
        question = polling.preconditions(feed, at)
        requested = FeedRequested(lease=lease, poll_id=f"{feed.id}@{self.now}", feed=feed, kind=question.kind)
        if self.chance.random() < FAILING:
            return FeedPoll(requested, FeedReceived(at=at, status=503, result="http_503"))
        validators = Validators(f'"{last}"', None)
        if question.validators.etag == validators.etag:
            return FeedPoll(requested, FeedReceived(at=at, status=304, result="not_modified", validators=validators))
        shown = tuple(ParsedEntry(published=date) for date in source.dates(first, last))
        new = last - max(source.seen, first)
        self.find(source, first, last, counts=known_before)
        entries = ComparedEntries(new=(None,) * new, known=len(shown) - new)  # type: ignore[arg-type]
        received = FeedReceived(
            at=at,
            status=200,
            result="fetched",
            validators=validators,
            parsed=ParsedFeed("rss2.0", entries=shown),
            hints=PublisherHints(ttl_minutes=60 if source.hourly_ttl else None),
            digest=str(last),
            body_hash=str(last),
        )
        return FeedPoll(requested, received, FeedFound(entries=entries))

    def find(self, source: Publisher, first: int, last: int, *, counts: bool) -> None:
        """What a poll finds, and what it comes too late for."""
        if counts:
            self.seen.missed += max(first - source.seen, 0)
            self.seen.found += [self.now - at for at in source.times[max(source.seen, first) : last]]
        source.seen = last

    def note(self, poll: FeedPoll) -> None:
        """Counts a poll."""
        due = dates.moment(poll.feed.polls.next_at)
        if due is not None:
            self.seen.late.append(max((poll.received.at - due).total_seconds(), 0.0))
        self.seen.results[poll.received.result] += 1
        self.seen.hours[int(self.now // HOUR)] += 1

    def foretold_sec(self) -> float:
        """The mean delay that the schedule promises."""
        polled = [feed.polls for feed in self.registry.all() if feed.polls.interval_sec]
        return forecast((one.cadence_state.arrivals, one.interval_sec or 0.0) for one in polled).delay_sec


def least_sec(publishers: Sequence[Publisher], polls: float, end: float) -> float:
    """The least mean delay that a day's polls can bring if all rates are known: polls go by the root of the rate.

    Feeds of fixed minutes count as if they came by chance; no floor, failure or pause is reckoned with.
    """
    rates = [each.rate(end - DAY + hour * HOUR) for each in publishers for hour in range(24)]
    return (HOUR * sum(math.sqrt(rate) for rate in rates)) ** 2 / (2 * polls * HOUR * sum(rates))


def share(values: Sequence[float], limit: float) -> float:
    return sum(value <= limit for value in values) / max(len(values), 1)


def report(world: World, options: argparse.Namespace, foretold_sec: float, took_sec: float) -> None:
    seen, budget = world.seen, options.feeds * options.polls
    polls, unmodified = sum(seen.results.values()), seen.results["not_modified"]
    late, found = sorted(seen.late), sorted(seen.found)
    hours = [count / (budget / 24) for _, count in sorted(seen.hours.items())]
    kept = f"{polls} of {budget} budgeted ({polls / budget - 1:+.1%}); by the hour {min(hours):.2f} … {max(hours):.2f}"
    lateness = f"p50 {late[len(late) // 2]:.1f} s, p99 {late[int(0.99 * len(late))]:.1f} s, longest {late[-1]:.0f} s"
    soon = f"{share(found, 300):.1%} within 5 min, mean {statistics.mean(found) / 60:.1f} min, missed {seen.missed}"
    rows = {
        "polls": kept,
        "late": lateness,
        "found": f"{len(found)} entries, {soon}",
        "forecast": f"mean {foretold_sec / 60:.1f} min",
        "least": f"mean {least_sec(tuple(world.publishers.values()), budget, world.end) / 60:.1f} min",
        "304": f"{unmodified / polls:.1%} of polls; {unmodified * BODY_BYTES / 1e6:.0f} MB saved at {BODY_BYTES} bytes",
        "results": f"{dict(seen.results)}; {took_sec:.0f} s",
    }
    for name, value in rows.items():
        print(f"{name:<10}{value}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = {"feeds": 2000, "hosts": 500, "polls": 24, "days": 2, "outage": 0, "seed": 7, "learnt": 40}
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--policy", choices=["learned", "baseline"], default="learned")
    parser.add_argument("--fairness", type=float, default=CadencePolicy().fairness)
    options, began = parser.parse_args(), time.monotonic()
    with running_redis() as url:
        import redis  # noqa: PLC0415 - after the path of the tests

        world = World(redis.Redis.from_url(url, decode_responses=True), options)
        world.run(START + (options.days - 1) * DAY)
        world.now += options.outage * HOUR
        if options.outage:
            moved = catch_up.spread_overdue(world.registry, world.frontier, world.moment())
            print(f"after {options.outage} h away {moved} overdue feeds are spread")
        expected = world.foretold_sec()
        world.seen = Seen()
        world.run(world.end)
    report(world, options, expected, time.monotonic() - began)


if __name__ == "__main__":
    main()
