"""The round trips of the store step."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from polls import feed_poll
from stories import Reader, reading

from feedcrawl.domain.entries.reading import read_feed
from feedcrawl.domain.subscriptions.records import Feed, PollRecord, Subscription
from feedcrawl.services.subscriptions.registering import poll_task

FEED = b"<rss version='2.0'><channel><item><guid>1</guid><link>http://a.test/1</link></item></channel></rss>"


@pytest.fixture
def reader(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Reader]:
    with reading(redis_server, tmp_path) as made:
        yield made


@pytest.mark.parametrize(("categories", "pipelines"), [((), 0), (("news", "sport"), 1)])
def test_a_feed_without_categories_has_no_round_trip_for_them(
    reader: Reader,
    redis_client: redis.Redis,
    monkeypatch: pytest.MonkeyPatch,
    categories: tuple[str, ...],
    pipelines: int,
) -> None:
    subscription = Subscription("f", "http://a.test/feed", categories)
    reader.wired.leases.enqueue([poll_task(subscription)])
    (lease,) = reader.wired.leases.take(1, ["poll"]).leases
    read = read_feed(FEED, url=subscription.url, content_type="application/rss+xml", feed_id="f")
    fields: dict[str, Any] = {"parsed": read.parsed, "identified": read.identified}
    poll = feed_poll(lease, "f@1", reader.now, 200, "fetched", Feed(subscription, PollRecord()), **fields)
    item = reader.passed(poll, last=3)

    made: list[object] = []
    original = reader.wired.client.pipeline
    monkeypatch.setattr(reader.wired.client, "pipeline", lambda **how: made.append(how) or original(**how))
    reader.passed(item, first=3, last=4)
    assert len(made) == pipelines
    assert (
        redis_client.keys("rss:category_links:*").sort() == [f"rss:category_links:{each}" for each in categories].sort()
    )
    (task,) = item.found.entries.new
    assert reader.wired.articles.requested_categories(task["article_uid"]) == set(categories)
