"""Items whose task another worker has taken: nothing is published, and no step after the loss writes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from documents import paragraphs
from polls import feed_poll
from stories import Reader, reading

from feedcrawl.domain.entries.reading import read_feed
from feedcrawl.domain.frontier.tasks import Lease
from feedcrawl.domain.subscriptions.records import Feed, PollRecord, Subscription
from feedcrawl.exceptions import LeaseLost
from feedcrawl.items import Article, FeedPoll
from feedcrawl.services.subscriptions.registering import poll_task

URL = "http://a.paper.test/1"
TEXT = "\n".join(paragraphs("story", count=5))
SUBSCRIPTION = Subscription("f", "http://a.test/feed")
FEED = b"<rss version='2.0'><channel><title>A</title><item><guid>1</guid><title>One</title></item></channel></rss>"


@pytest.fixture
def reader(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Reader]:
    with reading(redis_server, tmp_path) as made:
        yield made


def poll(reader: Reader) -> FeedPoll:
    reader.wired.leases.enqueue([poll_task(SUBSCRIPTION)])
    (lease,) = reader.wired.leases.take(1, ["poll"]).leases
    read = read_feed(FEED, url=SUBSCRIPTION.url, content_type="application/rss+xml", feed_id="f")
    fields = {"parsed": read.parsed, "identified": read.identified, "fetch_id": "x", "body_hash": "x", "digest": "x"}
    return feed_poll(lease, "f@1", reader.now, 200, "fetched", Feed(SUBSCRIPTION, PollRecord()), **fields)


def article(reader: Reader) -> Article:
    return reader.page(reader.lease(URL), TEXT)


def lose(reader: Reader, lease: Lease) -> None:
    """The task is gone from the frontier, and this worker was suspended beyond the time of its lease."""
    assert reader.wired.frontier.remove(lease.id)
    reader.wired.leases._sure_until = float("-inf")


def lines(reader: Reader) -> list[Any]:
    stores = (reader.wired.article_lines, reader.wired.entry_lines)
    return [line for store in stores for line in store.read(reader.now.date())]


@pytest.mark.parametrize("make", [article, poll])
@pytest.mark.parametrize(("steps", "written"), [(0, 0), (2, 0), (4, 1)])  # before the first step, the disk, the events
def test_an_item_of_a_lost_lease_is_dropped(
    reader: Reader, redis_client: redis.Redis, make: Any, steps: int, written: int
) -> None:
    item = reader.passed(make(reader), last=steps)
    lose(reader, item.lease)
    with pytest.raises(LeaseLost):
        reader.passed(item, first=steps)
    assert len(lines(reader)) == written
    assert redis_client.xlen("feedcrawl:events") == 0
    assert redis_client.keys("rss:article*") == []
    assert reader.wired.entries.count("f") == 0


def test_a_failure_that_ended_its_task_is_published_without_a_lease(reader: Reader, redis_client: redis.Redis) -> None:
    lease = reader.lease(URL)
    item = Article(lease, URL, reader.now, "failure", code="FAIL_HTTP", reason="http_503", detail="", ended=True)
    lose(reader, lease)
    reader.passed(item)
    assert [fields["type"] for _, fields in redis_client.xrange("feedcrawl:events")] == ["article_failed"]


def test_a_page_that_is_merged_writes_no_line(reader: Reader) -> None:
    reader.read(URL, TEXT)
    assert reader.read("http://b.paper.test/1", TEXT).merged_into is not None
    assert [line["url"] for line in lines(reader)] == [URL]
