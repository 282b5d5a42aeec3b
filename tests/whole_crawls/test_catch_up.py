"""A fleet that comes back after hours finds everything overdue, and does not ask for everything at once."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from world import entry, feed, good_page, world_in

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.subscriptions.records import dump
from feedcrawl.store.redis import keys
from feedcrawl.store.subscriptions.registry import Registry


def test_overdue_feeds_are_spread_by_workers_that_stay(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world, world.client() as client:
        urls = []
        for number in range(6):
            site = world.origin.site(f"site-{number}.test")
            site.serve("/a", good_page("a"))
            urls.append(site.serve("/feed", feed([entry(site, "a")])))
        world.crawl("first", f"feeds={','.join(urls)}")
        for found in Registry(client).all():
            due = rfc3339(datetime.now(UTC) - timedelta(hours=5))
            client.set(f"fc:{{0}}:polls:{found.id}", dump(replace(found.polls, next_at=due, interval_sec=7200.0)))
        client.delete(keys.SWEEPER)  # hours have passed
        world.start("forever=1")
        world.until(lambda: "overdue_feeds_spread" in world.logs())
        spread = next(line for line in world.logs().splitlines() if "overdue_feeds_spread" in line)
        assert '"feeds": 6' in spread
        assert '"over_sec": 6000' in spread
