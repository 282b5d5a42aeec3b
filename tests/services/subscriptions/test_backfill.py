from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from polls import decided, feed_poll

from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.domain.models import Paging, ParsedFeed
from feedcrawl.domain.subscriptions.archives import MAX_READINGS, Step, Walk, visit_key
from feedcrawl.domain.subscriptions.records import Feed, PollRecord, Subscription
from feedcrawl.items import FeedPoll
from feedcrawl.services.subscriptions import backfill, journal, polling

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
URL = "http://a.test/feed"
SUBSCRIPTION = Subscription("f", URL, ("news",), priority=9, backfill=True)
POLL = Task("feed:f", "feed", URL, "a.test")
ARCHIVE = Task("archive:f", "archive", f"{URL}?page=2", "a.test", payload=Walk((visit_key(URL),), 0, 0).to_record())


def read(
    task: Task,
    paging: Paging,
    *,
    at: str = "",
    limit: int = 100,
    subscription: Subscription = SUBSCRIPTION,
    **fields: Any,
) -> FeedPoll:
    document = {"parsed": ParsedFeed("rss2.0", paging=paging), "final_url": at or task.url}
    lease, feed = Lease(task, History(), "1"), Feed(subscription, PollRecord())
    poll = feed_poll(lease, "f@then", NOW, 200, "fetched", feed, **document, **fields)
    return replace(poll, found=replace(poll.found, onward=backfill.walk_step(poll, limit=limit)))


def test_a_poll_begins_the_walk() -> None:
    task = backfill.first_task(read(POLL, Paging(next="?page=2")))
    assert task is not None
    assert (task.id, task.kind, task.url, task.host, task.priority) == (
        "archive:f",
        "archive",
        ARCHIVE.url,
        "a.test",
        1,
    )
    assert task.payload == {"visited": [visit_key(URL)], "documents": 0, "new": 0, "readings": 0}


@pytest.mark.parametrize("paging", [Paging(), Paging(next=URL), Paging(next="?page=2", complete=True)])
def test_a_poll_without_archives_begins_no_walk(paging: Paging) -> None:
    assert backfill.first_task(read(POLL, paging)) is None


def test_a_poll_that_asks_for_no_archives_begins_none() -> None:
    poll = read(POLL, Paging(next="?page=2"), subscription=replace(SUBSCRIPTION, backfill=False))
    assert backfill.first_task(poll) is None


def test_the_next_step_keeps_the_state_of_the_walk() -> None:
    poll = read(ARCHIVE, Paging(next="?page=3"), at=f"{URL}?p=two", new=[SimpleNamespace()] * 3)
    ending, walk, last = backfill.next_step(poll)
    visited = [visit_key(URL), visit_key(ARCHIVE.url), visit_key(f"{URL}?p=two")]
    payload = {"visited": visited, "documents": 1, "new": 3, "readings": 0}
    assert ending["status"] == "pending"
    assert ending["patch"] == {"url": f"{URL}?page=3", "host": "a.test", "payload": payload}
    assert (walk.documents, last) == (1, None)


def test_a_document_with_more_entries_than_a_reading_may_bring_is_read_again() -> None:
    poll = read(ARCHIVE, Paging(next="?page=3"), new=[SimpleNamespace()] * 3, over_limit=5)
    ending, walk, _ = backfill.next_step(poll)
    assert ending["patch"]["url"] == ARCHIVE.url
    assert (walk.documents, walk.new, walk.readings) == (0, 3, 1)


def test_a_document_that_has_no_end_is_left() -> None:
    walk = Walk((visit_key(URL),))
    for _ in range(MAX_READINGS):
        poll = read(replace(ARCHIVE, payload=walk.to_record()), Paging(next="?page=3"), over_limit=5)
        ending, walk, _ = backfill.next_step(poll)
    assert ending["patch"]["url"] == f"{URL}?page=3"
    assert (walk.documents, walk.readings) == (1, 0)


@pytest.mark.parametrize(
    ("paging", "limit", "reason"),
    [
        (Paging(), 100, "end"),
        (Paging(next=URL), 100, "loop"),
        (Paging(next="?page=2"), 100, "loop"),
        (Paging(next="?page=3"), 1, "limit"),
    ],
)
def test_a_walk_ends(paging: Paging, limit: int, reason: str) -> None:
    ending, walk, last = backfill.next_step(read(ARCHIVE, paging, limit=limit))
    assert ending == {"status": "fetched", "reason": reason}
    assert last == Step(None, reason)  # type: ignore[arg-type]
    line = backfill.journal_line(Feed(SUBSCRIPTION, PollRecord(interval_sec=900.0, reason="rate")), walk, reason, NOW)
    assert (line["result"], line["archives"], line["documents"]) == ("archives_read", reason, 1)
    assert (line["reason"], line["interval_after_sec"]) == ("rate", 900.0)


def test_articles_of_archives_come_after_the_news() -> None:
    absent = dict.fromkeys(("summary", "content", "published", "updated", "language", "image"))
    names = {"feed_id": "f", "entry_uid": "1", "article_uid": "u", "title": "T", "canonical_link": "http://a.test/1"}
    entry = {"link": "http://a.test/1", "authors": [], "categories": [], **names, **absent}
    of_poll, of_archive = (read(task, Paging(), new=[entry]) for task in (POLL, ARCHIVE))
    assert [next(polling.entry_tasks(poll))[0].priority for poll in (of_poll, of_archive)] == [10, 1]


def test_the_archives_of_a_feed_are_requested_once() -> None:
    feed = Feed(SUBSCRIPTION, PollRecord())
    assert feed.needs_archives
    assert not replace(feed, subscription=replace(SUBSCRIPTION, backfill=False)).needs_archives
    poll = read(POLL, Paging(next="?page=2"))
    record = polling.poll_record(poll, decided(poll))
    assert record.archives == "next"
    assert not replace(feed, polls=record).needs_archives
    assert journal.journal_line(poll, decided(poll))["archives"] == "next"


def test_a_complete_feed_is_marked_in_the_journal() -> None:
    poll = read(POLL, Paging(complete=True), subscription=replace(SUBSCRIPTION, backfill=False))
    assert journal.journal_line(poll, decided(poll))["archives"] == "complete"


def test_the_rest_of_an_overlong_document_is_met_again() -> None:
    poll = read(POLL, Paging(), over_limit=7, body_hash="x")
    record = polling.poll_record(poll, decided(poll))
    assert (record.body_hash, record.etag, record.last_modified) == (None, None, None)
