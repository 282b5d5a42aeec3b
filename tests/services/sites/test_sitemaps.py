import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from feedcrawl.domain.cadence import Decision
from feedcrawl.domain.cadence.values import CadencePolicy
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.domain.http.conditional import Validators
from feedcrawl.domain.sitemaps.documents import TRUNCATED
from feedcrawl.domain.sitemaps.news import Found, News
from feedcrawl.domain.sitemaps.state import Sitemap, SitemapRecord, Watched
from feedcrawl.domain.sitemaps.tasks import sitemap_task
from feedcrawl.domain.urls import url_uid
from feedcrawl.items import Received
from feedcrawl.services.articles.submissions import Submissions
from feedcrawl.services.frontier.leases import Leases
from feedcrawl.services.sites import sitemaps, watching
from feedcrawl.services.sites.sitemaps import Commits, SitemapPoll, SitemapRequested
from feedcrawl.store.articles.records import Articles, Lifetimes
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.sites.sitemaps import Known, Sitemaps

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
POLICY = CadencePolicy(name="baseline")
HOUR = 3600.0
CONFIG: Any = SimpleNamespace(
    sitemap_interval_sec=6 * HOUR,
    sitemap_window_sec=48 * HOUR,
    sitemap_max_new=100,
    sitemap_urls_per_day=1000,
    sitemap_retire_sec=180 * 24 * HOUR,
    sitemap_probe_sec=7 * 24 * HOUR,
)
SITEMAP = Sitemap("s", "http://a.test/sitemap.xml", ("news",), priority=6)


class Stores:
    """All that a commit writes to, on one server."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client
        self.sitemaps = Sitemaps(client)
        self.frontier = Shard(client, FrontierPolicy(host_delay_sec=0, host_concurrency=9))
        self.leases = Leases(self.frontier)
        self.articles = Articles(client, Lifetimes())
        self.commits = Commits(self.sitemaps, Submissions(client, self.articles, self.leases), self.leases)

    def lease(self, *wanted: Sitemap) -> Lease:
        watching.watch(self.sitemaps, self.frontier, wanted or [SITEMAP])
        return next(each for each in self.leases.take(9, ("poll", "page")).leases if each.task.kind == "sitemap")


@pytest.fixture
def stores(redis_client: redis.Redis) -> Iterator[Stores]:
    made = Stores(redis_client)
    yield made
    close = getattr(made.leases, "close", None)
    if close is not None:
        close()


def poll(lease: Any, result: str = "fetched", status: int | None = 200, **fields: Any) -> SitemapPoll:
    watched = fields.pop("watched", Watched(SITEMAP, SitemapRecord()))
    news = fields.pop("news", None)
    received = Received(at=NOW, status=status, result=result, **fields)
    return SitemapPoll(SitemapRequested(lease=lease, poll_id="s@then", watched=watched), received, news)


def decision(made: SitemapPoll) -> Decision:
    return sitemaps.decide(made, sitemaps.policy_for(made.watched, POLICY, CONFIG, NOW), 0)


def news(*names: str, kind: str = "urlset", **fields: Any) -> News:
    return News(kind, tuple(Found(f"http://a.test/{name}") for name in names), b"s" * 12, len(names), **fields)


def record(**fields: Any) -> SitemapRecord:
    return SitemapRecord(**fields)


@pytest.mark.parametrize(
    ("last_hours", "since_hours"), [(None, 48), (1, 48), (48, 48), (100, 100), (24 * 29, 24 * 29), (24 * 300, 24 * 30)]
)
def test_the_window_begins_at_the_last_success(last_hours: float | None, since_hours: float) -> None:
    last = None if last_hours is None else rfc3339(NOW - timedelta(hours=last_hours))
    terms = sitemaps.terms_for(Watched(SITEMAP, record(last_success_at=last)), Known(b"x", 0, 0), CONFIG, NOW, {})
    assert terms.since == NOW - timedelta(hours=since_hours)
    assert terms.seen == b"x"


@pytest.mark.parametrize(
    ("today", "known_parts", "depth", "limit", "left"),
    [(0, 0, 0, 100, 50_000), (950, 1, 2, 50, 49_999), (2000, 60_000, 1, 0, 0), (0, 0, 3, 100, 0)],
)
def test_caps(today: int, known_parts: int, depth: int, limit: int, left: int) -> None:
    watched = Watched(replace(SITEMAP, depth=depth), record())
    terms = sitemaps.terms_for(watched, Known(b"", today, known_parts), CONFIG, NOW, {})
    assert (terms.limit, terms.parts) == (limit, left)


def test_a_day_ends_at_midnight() -> None:
    assert (sitemaps.day_of(NOW), sitemaps.until_tomorrow(NOW)) == ("20261128", 12 * HOUR)


def test_bounds_of_sitemaps_and_of_retired_sitemaps() -> None:
    def bounds(watched: Watched) -> tuple[float, float, float]:
        policy = sitemaps.policy_for(watched, POLICY, CONFIG, NOW)
        return policy.min_interval_sec / HOUR, policy.initial_interval_sec / HOUR, policy.max_interval_sec / HOUR

    assert bounds(Watched(SITEMAP, record())) == (6, 6, 24)
    own = replace(SITEMAP, min_interval_sec=HOUR, max_interval_sec=48 * HOUR)
    assert bounds(Watched(own, record())) == (1, 1, 48)
    for days, expected in ((179, (6, 6, 24)), (180, (168, 168, 168))):
        assert bounds(Watched(SITEMAP, record(news_at=rfc3339(NOW - timedelta(days=days))))) == expected


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (["http://a.test/sitemap.xml"], True),
        (["x", "http://A.test:80/sitemap.xml?utm_source=robots"], True),
        (["http://a.test/index.xml"], True),
        (["http://a.test/other.xml", ""], False),
        ([], False),
    ],
)
def test_the_sitemaps_of_a_robots_txt_are_recognised(named: list[str], expected: bool) -> None:
    assert sitemaps.names_it(replace(SITEMAP, root_url="http://a.test/index.xml"), named) is expected


def test_a_poll_leaves_tasks_memory_and_state(stores: Stores) -> None:
    found = Found("http://a.test/x?utm_source=map", NOW, "Title", NOW, "en")
    brought = replace(news("y", waiting=2), found=(found, Found("http://a.test/y")))
    made = poll(stores.lease(), news=brought, body_hash="h", validators=Validators('"1"', None))
    asyncio.run(stores.commits.commit(made, decision(made)))
    by_url = {each.task.url: each.task for each in stores.leases.take(5, ("page",)).leases}
    task = by_url["http://a.test/x?utm_source=map"]
    assert (task.id, task.kind, task.origin, task.priority) == (url_uid("http://a.test/x"), "article", "sitemap", 7)
    assert (task.parent, task.category) == (SITEMAP.url, "news")
    assert task.payload == {
        "sitemap_id": "s",
        "title": "Title",
        "published": "2026-11-28T12:00:00Z",
        "language": "en",
    }
    watched = stores.sitemaps.load(["s"])["s"]
    assert (watched.record.etag, watched.record.waiting, watched.record.news_at) == ('"1"', 2, rfc3339(NOW))
    assert stores.sitemaps.known(SITEMAP, "a.test", "20261128") == Known(b"s" * 12, 0, 0)
    assert stores.client.smembers("rss:category_links:news") == {"http://a.test/x", "http://a.test/y"}
    (line,) = stores.sitemaps.journal("s")
    assert (line["new"], line["waiting"], line["interval_after_sec"]) == (2, 2, 6 * HOUR)
    task, history = stores.frontier.find("sitemap:s") or pytest.fail("the sitemap has no future")
    assert (history.status, history.reason) == ("pending", "fetched")


def test_parts_are_watched_and_an_index_that_contains_itself_is_not(stores: Stores) -> None:
    made = poll(stores.lease(), news=news("p.xml", "sitemap.xml", kind="index"))
    asyncio.run(stores.commits.commit(made, decision(made)))
    (lease,) = stores.leases.take(5, ("poll",)).leases
    part = stores.sitemaps.load([lease.id.removeprefix("sitemap:")]).popitem()[1].sitemap
    assert (part.url, part.depth, part.root, part.root_url) == ("http://a.test/p.xml", 1, "s", SITEMAP.url)
    assert (part.categories, part.priority) == (SITEMAP.categories, SITEMAP.priority)


@pytest.mark.parametrize("listed", [(), ("x", "y")])
def test_a_urlset_with_sitemaps_brings_articles_and_parts(stores: Stores, listed: tuple[str, ...]) -> None:
    parts = (Found("http://a.test/p.xml"), Found("http://a.test/q.xml"))
    made = poll(stores.lease(), news=news(*listed, parts=parts))
    asyncio.run(stores.commits.commit(made, decision(made)))
    tasks = [each.task for each in stores.leases.take(9, ("poll", "page")).leases]
    assert sorted((task.kind, task.url) for task in tasks) == [
        *(("article", f"http://a.test/{name}") for name in listed),
        ("sitemap", "http://a.test/p.xml"),
        ("sitemap", "http://a.test/q.xml"),
    ]


def test_a_part_that_has_changed_is_looked_at_before_its_time(stores: Stores) -> None:
    part = Sitemap("p", "http://a.test/p.xml", root="s", root_url=SITEMAP.url, depth=1)
    stores.sitemaps.add([(part, "a.test/p.xml")])
    stores.frontier.enqueue([sitemap_task(part)], delay_sec=9999)
    changed = replace(news(kind="index"), found=(Found(part.url, NOW, edited=True),))
    made = poll(stores.lease(), news=changed)
    asyncio.run(stores.commits.commit(made, decision(made)))
    assert [lease.id for lease in stores.leases.take(5, ("poll",)).leases] == ["sitemap:p"]


@pytest.mark.parametrize("broken", ["save_seen", "commit"])
def test_a_kill_between_two_steps_loses_nothing(stores: Stores, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    made = poll(stores.lease(), news=news("x"))

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(stores.sitemaps, broken, killed)
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(stores.commits.commit(made, decision(made)))
    assert stores.frontier.find(url_uid("http://a.test/x"))  # the task was there before anything spoke of it
    assert (stores.sitemaps.known(SITEMAP, "a.test", "20261128").seen != b"") == (broken == "commit")
    assert stores.leases.holds(made.lease)
    asyncio.run(stores.commits.commit(made, decision(made)))
    assert not stores.leases.holds(made.lease)
    assert stores.frontier.counts()["pending:article"] == 1


@pytest.mark.parametrize(
    ("result", "status", "etag", "succeeded"),
    [
        ("fetched", 200, '"2"', True),
        ("not_modified", 304, '"2"', True),
        ("unchanged", 200, '"2"', True),
        ("html", 200, '"1"', False),
        ("http_404", 404, '"1"', False),
        ("dns", None, '"1"', False),
    ],
)
def test_validators_move_on_with_success_only(result: str, status: int | None, etag: str, succeeded: bool) -> None:
    before = Watched(SITEMAP, record(etag='"1"', last_success_at="then", news_at=rfc3339(NOW), interval_sec=22_000.0))
    read = {"news": news()} if result == "fetched" else {}
    made = poll(None, result, status, watched=before, validators=Validators('"2"', None), **read)
    left = sitemaps.poll_record(made, decision(made))
    assert (left.etag, left.last_result, left.last_status) == (etag, result, status)
    assert (left.last_success_at == rfc3339(NOW)) is succeeded
    assert made.received.failed is not succeeded


def test_a_truncated_document_leaves_no_validators() -> None:
    before = Watched(SITEMAP, record(etag='"1"', last_success_at="then", interval_sec=22_000.0))
    for notes, etag in (((TRUNCATED,), None), ((), '"2"')):
        made = poll(None, watched=before, validators=Validators('"2"', None), news=replace(news("x"), notes=notes))
        assert sitemaps.poll_record(made, decision(made)).etag == etag


def test_new_urls_or_a_changed_body_count_as_news() -> None:
    before = Watched(SITEMAP, record(news_at="then", body_hash="h"))
    for body_hash, names, at in (("h", (), "then"), ("h", ("x",), rfc3339(NOW)), ("other", (), rfc3339(NOW))):
        made = poll(None, watched=before, news=news(*names), body_hash=body_hash)
        of_new = poll(None, watched=replace(before, record=replace(before.record, news_at=None)), news=news(*names))
        assert sitemaps.poll_record(made, decision(of_new)).news_at == at


def test_a_redirected_poll_starts_at_home_again() -> None:
    task = sitemap_task(SITEMAP)
    assert sitemaps.back_home(task, SITEMAP) == {}
    moved = replace(task, url="http://b.test/", host="b.test", payload={"redirect_chain": [SITEMAP.url]})
    assert sitemaps.back_home(moved, SITEMAP) == {"url": SITEMAP.url, "host": "a.test", "payload": None}


def test_an_unusable_url_stops_no_other() -> None:
    lease = Lease(Task("sitemap:s", "sitemap", "http://a.test/sitemap.xml", "a.test"), History(), "1")
    made = poll(lease, news=replace(news(), found=(Found("http://a b/"), Found("http://a.test/x", edited=True))))
    assert [(task.url, again) for task, again in sitemaps.article_tasks(made)] == [("http://a.test/x", "edited")]
    index = poll(lease, news=replace(news(kind="index"), found=made.found))
    assert [part.url for part, _ in sitemaps.parts(index)] == ["http://a.test/x"]
