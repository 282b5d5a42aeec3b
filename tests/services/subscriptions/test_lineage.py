from datetime import UTC, datetime, timedelta

import pytest
import redis
from polls import decided, feed_poll

from feedcrawl.domain.entries.reading import read_feed
from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.domain.subscriptions.records import Feed, PollRecord, Subscription
from feedcrawl.items import ComparedEntries
from feedcrawl.services.subscriptions import lineage
from feedcrawl.services.subscriptions.polling import poll_record
from feedcrawl.store.subscriptions.entries import Entries

START = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
SUBSCRIPTION = Subscription("f", "http://a.test/feed")


def rss(*items: tuple[str, str, str]) -> bytes:
    """Entries of (guid, link, title)."""
    entries = "".join(
        f"<item><guid isPermaLink='false'>{guid}</guid><link>{link}</link><title>{title}</title></item>"
        for guid, link, title in items
    )
    return f"<rss version='2.0'><channel><title>A</title>{entries}</channel></rss>".encode()


def items(*numbers: int, guid: str = "id-", title: str = "Title") -> list[tuple[str, str, str]]:
    return [(f"{guid}{number}", f"http://a.test/{number}", f"{title} {number}") for number in numbers]


class Polls:
    """Polls one feed again and again."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self.entries = Entries(client)
        self.now = START
        self.record = self.left = PollRecord()

    def __call__(self, body: bytes, *, save: bool = True, pushed: bool = False) -> ComparedEntries:
        read = read_feed(body, url=SUBSCRIPTION.url, content_type="application/rss+xml", feed_id="f")
        poll = feed_poll(
            lease=Lease(Task("feed:f", "feed", SUBSCRIPTION.url, "a.test"), History(), "1-x"),
            feed=Feed(SUBSCRIPTION, self.record),
            poll_id="x",
            at=self.now,
            status=200,
            result="fetched",
            parsed=read.parsed,
            identified=read.identified,
            fetch_id="fetch-1",
            body_hash="hash",
            digest=read.digest,
            deliveries=int(pushed),
        )
        poll = lineage.compare(poll, self.entries)
        if save:
            with self._client.pipeline() as pipe:
                lineage.save(poll, self.entries, pipe)
                pipe.execute()
            self.left = poll_record(poll, decided(poll))
            self.record = PollRecord(ids=poll.found.entries.identity)
        self.now += timedelta(hours=1)
        return poll.found.entries


@pytest.fixture
def polls(redis_client: redis.Redis) -> Polls:
    return Polls(redis_client)


def test_an_entry_seen_for_the_first_time_is_new(polls: Polls) -> None:
    found = polls(rss(*items(1, 2)))
    assert [entry["title"] for entry in found.new] == ["Title 1", "Title 2"]
    first = found.new[0]
    assert (first["entry_uid"], first["feed_id"], first["seen_count"], first["revision"]) == ("id-1", "f", 1, 1)
    assert first["first_seen"] == first["last_seen"] == "2026-11-27T12:00:00.000Z"
    assert first["raw_refs"][0]["fetch_id"] == "fetch-1"
    assert (found.changed, found.known, found.over_limit) == ((), 0, 0)


def test_a_saved_entry_is_known(polls: Polls) -> None:
    polls(rss(*items(1, 2)))
    found = polls(rss(*items(3, 1, 2)))
    assert ([entry["entry_uid"] for entry in found.new], found.known) == (["id-3"], 2)
    assert polls.entries.count("f") == 3


def test_an_entry_that_was_not_saved_is_new_again(polls: Polls) -> None:
    polls(rss(*items(1)), save=False)
    assert len(polls(rss(*items(1))).new) == 1


def test_an_edit_is_a_change_under_the_same_name(polls: Polls) -> None:
    polls(rss(*items(1, 2)))
    found = polls(rss(*items(1), *items(2, title="Corrected")))
    assert ([entry["entry_uid"] for entry in found.changed], found.known, found.new) == (["id-2"], 1, ())
    assert (found.changed[0]["revision"], found.changed[0]["seen_count"]) == (2, 2)


def test_an_edit_outside_of_the_entries_makes_no_new_version(polls: Polls) -> None:
    polls(rss(*items(1, 2)))
    edit = b"</title><updated>2026-11-27T12:30:00Z</updated></item></channel>"
    found = polls(rss(*items(1, 2)).replace(b"</title></item></channel>", edit))
    assert [entry["entry_uid"] for entry in found.edited] == ["id-2"]
    assert (found.changed, found.new, found.known, found.waits) == (
        (),
        (),
        2,
        False,
    )
    again = rss(*items(1, 2)).replace(b"</title></item></channel>", edit.replace(b"12:30", b"12:40"))
    polls.now -= timedelta(minutes=30)
    waiting = polls(again)
    assert (waiting.edited, waiting.waits) == ((), True)
    reported = polls(again)
    assert (len(reported.edited), reported.waits) == (1, False)


@pytest.mark.parametrize(("pushed", "title"), [(True, "Corrected"), (False, "Title")])
def test_an_older_delivery_changes_nothing_and_an_older_poll_is_believed(
    polls: Polls, *, pushed: bool, title: str
) -> None:
    """A hub may repeat what it sent before a correction; what a publisher shows now is what holds now."""

    def version(title: str, updated: str) -> bytes:
        dates = f"</title><pubDate>Fri, 27 Nov 2026 08:00:00 GMT</pubDate><updated>{updated}</updated></item>"
        return rss(*items(1, title=title)).replace(b"</title></item>", dates.encode())

    polls(version("Title", "2026-11-27T08:00:00Z"))
    assert len(polls(version("Corrected", "2026-11-27T11:00:00Z"), pushed=True).changed) == 1
    polls.now += timedelta(days=1)  # the next change is due
    late = polls(version("Title", "2026-11-27T08:00:00Z"), pushed=pushed)
    assert (len(late.changed), late.known, late.waits) == ((0, 1, False) if pushed else (1, 0, False))
    assert polls(version(title, "2026-11-27T11:00:00Z")).changed == ()


def test_a_feed_with_new_ids_is_the_same_feed(polls: Polls) -> None:
    polls(rss(*items(*range(6))))
    found = polls(rss(*items(*range(6), guid="https://new.test/?p=")))
    assert (found.new, found.migrated) == ((), True)
    assert polls(rss(*items(*range(6), guid="https://new.test/?p="))).known == 6


def test_two_feeds_may_have_an_entry_of_the_same_id(polls: Polls, redis_client: redis.Redis) -> None:
    polls(rss(*items(1)))
    assert Entries(redis_client).load("g", ["id-1"]) == ({}, {})


def test_a_change_that_is_reported_later_keeps_its_document_unread(polls: Polls) -> None:
    polls(rss(*items(1, 2)))
    assert not polls(rss(*items(1, 2, title="Edited"))).waits  # the first edit counts at once
    polls.now -= timedelta(minutes=30)
    waiting = polls(rss(*items(1, 2, title="Again")))
    assert (len(waiting.changed), waiting.waits) == (0, True)
    assert (polls.left.body_hash, polls.left.digest) == (None, None)
    reported = polls(rss(*items(1, 2, title="Again")))
    assert (len(reported.changed), reported.waits) == (2, False)
