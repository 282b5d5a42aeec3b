"""What a poll and an article add to the series."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from polls import feed_poll

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.frontier.tasks import History as Past
from feedcrawl.domain.frontier.tasks import Lease, Task
from feedcrawl.domain.operations.counters import Increments
from feedcrawl.domain.subscriptions.records import Feed, PollRecord, Subscription
from feedcrawl.items import Article, FeedPoll
from feedcrawl.services.articles.ending import increments as of_article
from feedcrawl.services.subscriptions.journal import increments as of_poll

NOW = datetime(2026, 11, 28, 6, tzinfo=UTC)
LEASE = Lease(Task("feed:f", "feed", "https://a.example/f", "a.example"), Past(), "t")


def ago(seconds: float) -> str:
    return rfc3339(NOW - timedelta(seconds=seconds))


def poll(result: str, *, due_sec: float | None = None, last_sec: float = 900, new: int = 0, **fields: Any) -> FeedPoll:
    """Due so many seconds ago, at an interval of 900 s, the poll before so many seconds ago."""
    polls = PollRecord(body_bytes=700)
    if due_sec is not None:
        polls = PollRecord(body_bytes=700, interval_sec=900, next_at=ago(due_sec), last_fetch_at=ago(last_sec))
    feed = Feed(Subscription("f", "https://a.example/f"), polls)
    return feed_poll(LEASE, "f@1", NOW, 200, result, feed, new=[SimpleNamespace()] * new, **fields)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (poll("fetched", new=3), Increments({"poll:fetched": 1, "new": 3}, "f")),
        (poll("unchanged", due_sec=10, duration_sec=4.0), Increments({"poll:unchanged": 1, "late": 6})),
        (poll("not_modified", due_sec=-5), Increments({"poll:not_modified": 1, "saved": 700})),
        (poll("unchanged", due_sec=901, last_sec=1801), Increments({"poll:unchanged": 1, "late": 901, "stale": 1})),
        (poll("http_503", due_sec=0), Increments({"poll:http_503": 1}, None, "a.example")),
        (poll("fetched", due_sec=-500, new=2, deliveries=1), Increments({"push:read": 1, "new": 2}, "f")),
        (poll("not_a_feed", due_sec=-500, deliveries=1), Increments({"push:not_a_feed": 1}, None, "a.example")),
    ],
)  # fmt: skip
def test_counts_that_a_poll_adds(item: FeedPoll, expected: Increments) -> None:
    assert of_poll(item) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"status": "success"}, Increments({"article:stored": 1})),
        ({"status": "success", "merged_into": "b" * 16}, Increments({"article:merged": 1})),
        ({"status": "failure", "reason": "http_404"}, Increments({"article:http_404": 1}, None, "a.example")),
    ],
)
def test_counts_that_an_article_adds(fields: dict[str, Any], expected: Increments) -> None:
    assert of_article(Article(LEASE, "https://a.example/1", NOW, **fields)) == expected
