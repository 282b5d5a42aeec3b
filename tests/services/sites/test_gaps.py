from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from polls import feed_poll

from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.domain.models import ParsedEntry, ParsedFeed
from feedcrawl.domain.sitemaps.gaps import Found, Gap
from feedcrawl.domain.sites.owners import Sources
from feedcrawl.domain.subscriptions.records import Feed, PollRecord, Subscription
from feedcrawl.items import FeedPoll
from feedcrawl.services.sites import gaps

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
SUBSCRIPTION = Subscription("f", "http://feeds.test/sport", ("sport",))
POLLS = PollRecord(last_success_at="2026-11-27T06:00:00.000Z", next_at="2026-11-27T13:00:00.000Z")


def poll(*links: str, polls: PollRecord = POLLS, **fields: Any) -> FeedPoll:
    lease = Lease(Task("feed:f", "feed", SUBSCRIPTION.url, "feeds.test"), History(), "1-x")
    parsed = ParsedFeed(format="rss2.0", entries=tuple(ParsedEntry(link=link) for link in links))
    return feed_poll(lease, "x", NOON, 200, "fetched", Feed(replace(SUBSCRIPTION, **fields), polls), parsed=parsed)


def test_the_gap_begins_at_the_sites_robots_txt_and_is_filled_once_a_day() -> None:
    task = gaps.first_task(poll("https://news.test/sport/1", "https://news.test/sport/2"))
    assert task is not None
    assert (task.id, task.kind, task.url, task.host) == (
        "gap:f:2026-11-27", "gap", "https://news.test/robots.txt", "news.test",
    )  # fmt: skip
    lease = Lease(task, History(), "1-x")
    assert gaps.feed_id_of(lease) == "f"
    assert gaps.gap_of(lease) == Gap(NOON - timedelta(hours=6), NOON, "news.test/sport/")


@pytest.mark.parametrize(
    "made",
    [
        poll("https://a.test/1", "https://b.test/2"),
        poll(),
        poll("https://a.test/1", polls=PollRecord()),
        poll("https://a.test/1", entries_only=True),
    ],
    ids=["two sites", "no entries", "first poll", "no articles"],
)
def test_a_gap_that_cannot_or_must_not_be_filled(made: FeedPoll) -> None:
    assert gaps.first_task(made) is None


def test_the_walk_goes_from_sitemap_to_sitemap() -> None:
    gap = Gap(NOON, NOON, "news.test/", ("https://news.test/1.xml", "https://news.test/2.xml"))
    patch = gaps.onward(gap)
    assert patch is not None
    assert patch["url"] == "https://news.test/1.xml"
    task = Task("gap:f:1", "gap", "", "", payload=patch["payload"] or {})
    left = gaps.gap_of(Lease(task, History(), "1-x"))
    assert left.places == ("https://news.test/2.xml",)
    assert gaps.onward(replace(left, places=())) is None


def test_articles_of_a_gap_are_the_feeds() -> None:
    found = [Found("https://news.test/sport/3", NOON, "Three"), Found("http://[", NOON)]
    ((task, again),) = gaps.article_tasks(poll().feed, found, Sources(), "https://news.test/1.xml")
    assert (task.kind, task.origin, task.category, again) == ("article", "sitemap", "sport", "")
    assert (task.payload["feed_id"], task.payload["title"]) == ("f", "Three")
    line = gaps.journal_line(poll().feed, replace(Gap(NOON, NOON, "x/"), documents=2, found=1), 1, NOON)
    assert (line["result"], line["documents"], line["new"], line["next_at"]) == ("gap_filled", 2, 1, POLLS.next_at)
