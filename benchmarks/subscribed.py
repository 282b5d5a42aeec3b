"""What a feed costs Redis: bytes per feed, and the work of one poll that brings nothing, however many are subscribed.

    python benchmarks/subscribed.py [--sizes 1000,10000,100000] [--polls 6000] [--no-aof]

Each size has a server of its own with that many feeds, two on a host; as many as are measured are due and the others
wait for theirs. A poll is the work of `crawl feeds` in Redis for a 304: its task is taken and its feed loaded, 16 at a
time, and its end goes with its record and its line of the journal, 16 together. The decisions between them are made by
the same functions and not counted. The columns are those of `frontier.py`.
"""

from __future__ import annotations

import argparse
import random
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from frontier import HEAD, POLICY, Bench, row, store

from feedcrawl.domain import dates
from feedcrawl.domain.cadence import CadencePolicy
from feedcrawl.domain.http.conditional import Validators
from feedcrawl.domain.subscriptions.records import PollRecord, Subscription, dump
from feedcrawl.domain.urls import hostname
from feedcrawl.items import Decided, FeedPoll, FeedReceived, FeedRequested
from feedcrawl.services.subscriptions import journal, polling
from feedcrawl.services.subscriptions.registering import poll_task
from feedcrawl.store.frontier.interface import Ending
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.redis import keys
from feedcrawl.store.subscriptions.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.subscriptions.published import JournalLineRecord
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.store.redis.client import Client

BATCH = 16
CHUNK = 1600
NOW = datetime.now(UTC)


def poll_of(lease: Lease, feed: Feed) -> FeedPoll:
    """A 304."""
    validators = Validators(feed.polls.etag, feed.polls.last_modified)
    poll_id, fetch_id = f"{feed.id}@{dates.rfc3339(NOW)}", str(uuid.uuid4())
    requested = FeedRequested(lease=lease, poll_id=poll_id, feed=feed)
    received = FeedReceived(
        at=NOW,
        status=304,
        result="not_modified",
        validators=validators,
        fetch_id=fetch_id,
        duration_sec=0.2,
        signal="ok",
    )
    return FeedPoll(requested, received)


class Feeds:
    """A registry and a frontier with so many feeds, `due` of them due."""

    def __init__(self, client: Client, size: int, due: int) -> None:
        self._client, self._size, self._due = client, size, due
        self.line = 0
        self._frontier, self._registry = Shard(client, POLICY), Registry(client)
        self._policy = CadencePolicy()

    def subscribe(self) -> None:
        """All of them, each polled once."""
        for at in range(0, self._size, CHUNK):
            numbers = range(at, min(at + CHUNK, self._size))
            each = [self._subscription(number) for number in numbers]
            with self._client.pipeline(transaction=False) as pipe:
                for subscription in each:
                    for command in self._registered(subscription):
                        pipe.execute_command(*command)
                pipe.execute()
            delays = [0.0 if number < self._due else random.uniform(3600, 86_400) for number in numbers]
            due = zip(each, delays, strict=True)
            self._frontier.enqueue_each((poll_task(subscription), delay, "") for subscription, delay in due)

    def _subscription(self, number: int) -> Subscription:
        url = f"https://www.site-{number // 2}.example/feeds/number-{number}.xml"
        return Subscription(str(uuid.uuid4()), url, ("news",), added_at=dates.rfc3339(NOW))

    def _registered(self, subscription: Subscription) -> list[list[Any]]:
        polls = PollRecord(
            etag=f'"{subscription.id[:8]}"',
            last_modified="Fri, 27 Nov 2026 08:15:00 GMT",
            body_hash=2 * subscription.id.replace("-", ""),
            digest=2 * subscription.id.replace("-", ""),
            body_bytes=20_000,
            shown=20,
            type="rss",
            title=f"News of {hostname(subscription.url)}",
            last_status=200,
        )
        shard, at = keys.shard(), dates.rfc3339(NOW)
        line: JournalLineRecord = {
            "poll_id": f"{subscription.id}@{at}",
            "at": at,
            "result": "fetched",
            "interval_after_sec": 3600.0,
            "reason": "min-interval",
            "next_at": at,
        }
        return [
            ["SADD", f"{shard}feeds", subscription.id],
            ["HSET", f"{shard}feed_by_url", subscription.url, subscription.id],
            *self._registry.moved(dump(subscription), subscription.id),
            *self._registry.commit(subscription.id, polls, line),
        ]

    def polls(self, count: int) -> Iterator[int]:
        """Steps of `Bench.measured`: takes and loads (half of the work), nothing while it is decided, ends."""
        for _ in range(count // BATCH):
            leases = self._frontier.take(BATCH, lanes=("poll",)).leases
            feeds = self._registry.load([lease.id.removeprefix("feed:") for lease in leases])
            yield len(leases) // 2
            endings = [self._ending(poll_of(lease, feeds[lease.id.removeprefix("feed:")])) for lease in leases]
            yield 0
            self._frontier.end(endings)
            yield len(leases) - len(leases) // 2

    def _ending(self, poll: FeedPoll) -> Ending:
        decided = Decided(polling.decide(poll, None, self._policy, 0.0), 0.0, poll.feed.subscription)
        record, line = polling.poll_record(poll, decided), journal.journal_line(poll, decided)
        commands = self._registry.commit(poll.feed.id, record, line)
        self.line = len(str(commands[1][2]).encode())
        received, delay_sec = poll.received, decided.decision.interval_sec
        return Ending(poll.lease, "pending", received.result, delay_sec, {}, commands, received.signal)


def report(size: int, options: argparse.Namespace) -> None:
    """The rows of one size."""
    with store(options) as client:
        bench = Bench(client, size, size // 2, 1)
        feeds, empty = Feeds(cast("Client", client), size, min(options.polls + BATCH, size)), bench.memory()
        feeds.subscribe()
        each = (bench.memory() - empty) / size
        count = min(options.polls, size)
        row(size, "poll", BATCH, bench.measured(feeds.polls(count)))
        more = f", {bench.memory() / size - empty / size - each:.0f} more after a poll" if count == size else ""
        print(
            f"| {size} | bytes per feed: {each:.0f}{more}; a line of the journal {feeds.line} | | | | | | |", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000", help="numbers of feeds, comma separated")
    parser.add_argument("--polls", type=int, default=6_000, help="polls that are measured, at most one of each feed")
    parser.add_argument("--no-aof", action="store_true", help="a server without its append-only file")
    options = parser.parse_args(namespace=argparse.Namespace(cluster=False))
    print(HEAD)
    for size in map(int, options.sizes.split(",")):
        report(size, options)


if __name__ == "__main__":
    main()
