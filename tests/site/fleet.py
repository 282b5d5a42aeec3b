"""The stored state of a fleet after some days: feeds and their polls, counts, articles, dead letters, a circuit."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

from feedcrawl.domain.cadence.state import to_json
from feedcrawl.domain.cadence.values import PollState
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.entries.lineage import KnownEntry
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.operations.counters import Increments
from feedcrawl.domain.sites.site_search import SourceSearchedRecord, Tried, page_key
from feedcrawl.domain.subscriptions.records import Feed, PollRecord, Subscription, dump
from feedcrawl.domain.urls import url_uid
from feedcrawl.services.articles.tasks import hash_fields
from feedcrawl.services.subscriptions.finding import url_key
from feedcrawl.services.subscriptions.registering import poll_task
from feedcrawl.store.frontier.hosts import RobotsRecord
from feedcrawl.store.redis import keys
from feedcrawl.wiring import Wiring

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title><svg onload=alert(1)>",
    "\u202egnp.exe",
    "A" * 400,
)
"""Titles that publishers could give their feeds and articles."""
COUNTS = (
    {"poll:fetched": 5, "new": 20, "late": 30, "article:stored": 5, "article:merged": 1},
    {"poll:not_modified": 4, "saved": 4000, "stale": 1},
    {"poll:unchanged": 1, "poll:http_503": 2, "new": 1, "article:http_503": 1},
)
FAILED = frozenset({5, 6})


def seeded(wired: Wiring, *, feeds: int = 12, articles: int = 8) -> list[str]:
    """Fills a store; answers the uids of the articles."""
    subscriptions = [_feed(wired, number) for number in range(feeds)]
    with wired.client.pipeline(transaction=False) as pipe:
        for feed in subscriptions:
            key = url_key(feed.subscription.url)
            pipe.hset(wired.registry._by_url(key), key, feed.id)
            pipe.sadd(f"{wired.registry._prefix(feed.id)}feeds", feed.id)
            pipe.set(wired.registry._key("feed", feed.id), dump(feed.subscription))
            commands = wired.registry.commit(feed.id, feed.polls, _line(wired, feed))
            for command in commands + wired.registry.failing_changed(feed.id, PollRecord(), feed.polls):
                pipe.execute_command(*command)
        pipe.execute()
    wired.frontier.enqueue_each((poll_task(feed.subscription), 600.0, "") for feed in subscriptions)
    _count(wired, subscriptions)
    _dead_letters(wired)
    _open_a_circuit(wired)
    return [_article(wired, subscriptions[number % feeds], number) for number in range(articles)]


def faulty_sites(wired: Wiring) -> None:
    """Stores a robots.txt that fails, a source behind whose site nothing was found, and one that was not searched."""
    now = wired.now()
    wired.hosts.save_robots("https://down.example", RobotsRecord("", 503, now.timestamp(), now.timestamp()), "http_503")
    for name in ("silent", HOSTILE[0]):
        asyncio.run(
            wired.source_book.put(wired.source_stores, {"name": name, "base_url": f"https://{len(name)}.example/"})
        )
    tried: list[Tried] = [{"url": "https://6.example/feed", "result": "http_404"}]
    found: SourceSearchedRecord = {
        "source": "silent",
        "url": "https://6.example/",
        "at": rfc3339(now),
        "feeds": [],
        "sitemaps": [],
        "tried": tried,
    }
    wired.site_searches.save(page_key(found["url"]), found)


def migrated(wired: Wiring, feed_id: str) -> None:
    """Stores a migration of a feed: an entry that was known as `old` has the key `id:new` too."""
    entry = KnownEntry("old", "id", "0" * 64, "", None, None, wired.now(), wired.now())
    with wired.client.pipeline() as pipe:
        wired.entries.save(pipe, feed_id, {entry.uid: entry}, {"id:old": entry.uid, "id:new": entry.uid})
        wired.entries.keep_migration(pipe, feed_id, {entry: ["id:new"]})
        pipe.execute()


def _feed(wired: Wiring, number: int) -> Feed:
    url, now = f"https://site{number}.example/feed", wired.now()
    title = HOSTILE[number] if number < len(HOSTILE) else f"Fleet {number}"
    subscription = Subscription(wired.registry.new_id(url), url, ("<b>news</b>",), title, rfc3339(now))
    interval = 900.0 * (1 + number % 40)
    polls = PollRecord(
        title=title,
        type="rss20",
        site_url="javascript:alert(1)" if number < len(HOSTILE) else url,
        etag='"<b>"',
        interval_sec=interval,
        next_at=rfc3339(now + timedelta(seconds=600)),
        reason="error-backoff" if number in FAILED else "new-entries",
        candidates=(("error-backoff", interval),) if number in FAILED else (("interval", interval), ("blend", 800.0)),
        last_fetch_at=rfc3339(now),
        last_success_at=rfc3339(now),
        last_status=503 if number in FAILED else 200,
        last_result="http_503" if number in FAILED else "fetched",
        cadence=to_json(PollState(interval, 4000.0 * (1 + number), errors=7 - number if number in FAILED else 0)),
    )
    return Feed(subscription, polls)


def _line(wired: Wiring, feed: Feed) -> dict[str, Any]:
    failed = feed.polls.last_result != "fetched"
    return {
        "poll_id": f"{feed.id}@1",
        "at": rfc3339(wired.now()),
        "http_status": feed.polls.last_status,
        "result": feed.polls.last_result,
        "detail": "<b>upstream connect error" if failed else "",
        "new": 3,
        "bytes": 20_000,
        "interval_after_sec": feed.polls.interval_sec,
        "next_at": feed.polls.next_at,
        "reason": feed.polls.reason,
    }


def _count(wired: Wiring, feeds: list[Feed]) -> None:
    now = wired.now().timestamp()
    increments = [
        Increments(COUNTS[0], feeds[0].id),
        Increments(COUNTS[1]),
        Increments(COUNTS[2], feeds[1].id, "dead.example"),
    ]
    more = [Increments({}, failed_host="dead.example"), Increments({}, failed_host="dead.example")]
    wired.series.add([command for each in (*increments, *more) for command in wired.series.of_page(0, each, now - 60)])


def _dead_letters(wired: Wiring) -> None:
    for number, reason in enumerate(("http_404", "http_404", "<b>")):
        letter = {"url": f"https://dead.example/{number}", "uid": f"{number:016x}", "kind": "article", "reason": reason}
        wired.client.rpush(keys.DEAD_LETTERS, json.dumps(letter | {"at": wired.now().timestamp()}))


def _open_a_circuit(wired: Wiring) -> None:
    wired.frontier.enqueue([Task("0" * 12 + "down", "article", "https://down.example/1", "down.example")])
    (lease,) = wired.frontier.take(1).leases
    for _ in range(wired.config.circuit_failures):
        wired.frontier.release(lease, "site")


def _article(wired: Wiring, feed: Feed, number: int) -> str:
    url, now = f"https://site{number}.example/{number}", wired.now()
    uid, at = url_uid(url), wired.now().timestamp() - number
    text = "What was said of it is one line.\n" * 5
    record = {
        "type": "article",
        "uid": uid,
        "url": url,
        "canonical_url": url,
        "final_url": url,
        "category": "news",
        "categories": ["news"],
        "title": HOSTILE[number] if number < len(HOSTILE) else f"Story {number}",
        "authors": ["<b>Ann</b>"],
        "published": rfc3339(now),
        "language": "en",
        "site_name": "A site",
        "clean_text": text,
        "text_len": len(text),
        "content_html": f"<p>What was said</p><img src='{url}.png' alt='The hall'><script>alert(1)</script>",
        "content_hash": f"{number:064x}",
        "extractor": "readability",
        "feed_id": feed.id,
        "fetched_ts": at,
        "fetched_at": rfc3339(now),
        "status": "success",
    }
    entry = {"feed_id": feed.id, "entry_uid": f"e{number}", "title": "An entry of it", "canonical_link": url}
    entry |= {"article_uid": uid, "first_seen": rfc3339(now), "revision": 1}
    with wired.client.pipeline(transaction=False) as pipe:
        wired.articles.write(pipe, uid, hash_fields(record))
        wired.articles.index(pipe, uid, ["news"], at)
        wired.articles.add_other_url(pipe, uid, "javascript:alert(1)")
        pipe.execute()
    wired.article_lines.append(now.date(), record | {"content_hash": "f" * 64, "title": "a version before"}, record)
    wired.entry_lines.append(now.date(), entry)
    return uid
