import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from feedcrawl.domain.models import SourceRules
from feedcrawl.domain.sites.owners import Sources
from feedcrawl.domain.sites.site_search import BOTH, page_key
from feedcrawl.domain.sites.sources import BadSources, Source
from feedcrawl.services.sites import searching, sources
from feedcrawl.services.sites.sources import SourceBook
from feedcrawl.services.subscriptions import registering
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy, ScopePace
from feedcrawl.store.sites.site_searches import SiteSearches
from feedcrawl.store.sites.sitemaps import Sitemaps
from feedcrawl.store.sites.sources import StoredSources
from feedcrawl.store.subscriptions.registry import Registry

SOURCE = Source(
    "a",
    "http://a.test/",
    feed_urls=("http://a.test/feed", "http://feeds.elsewhere.test/a"),
    sitemap_urls=("http://www.a.test/s.xml",),
    categories=("x",),
    priority=9,
    delay_sec=7.0,
    poll_interval_sec=600.0,
    min_interval_sec=60.0,
    sitemap_interval_sec=1800.0,
    selectors=SourceRules(body=("p",)),
    keep_trailing_slash=True,
)


@pytest.fixture
def stores(redis_client: redis.Redis) -> Any:
    frontier = Shard(redis_client, FrontierPolicy(scopes={"domain": ScopePace(0)}))
    now = lambda: datetime(2026, 11, 28, tzinfo=UTC)  # noqa: E731
    return SimpleNamespace(
        registry=Registry(redis_client),
        sitemaps=Sitemaps(redis_client),
        searches=SiteSearches(redis_client),
        frontier=frontier,
        now=now,
        again_sec=7 * 86_400.0,
        client=redis_client,
    )


def sync(stores: Any, *found: Source) -> None:
    book = SourceBook(None, StoredSources(stores.client))
    book.known = Sources(found)
    asyncio.run(book.sync(stores))


def test_feeds_and_sitemaps_of_a_source_are_subscribed_with_its_settings(stores: Any) -> None:
    for _ in range(2):
        sync(stores, SOURCE)
    assert "pending:site_search" not in stores.frontier.counts()
    feeds = {feed.subscription.url: feed.subscription for feed in stores.registry.all()}
    assert feeds.keys() == {"http://a.test/feed", "http://feeds.elsewhere.test/a"}
    found = feeds["http://a.test/feed"]
    assert (found.source, found.priority, found.categories) == ("a", 9, ("x",))
    assert (found.initial_interval_sec, found.min_interval_sec, found.max_interval_sec) == (600, 60, None)
    (watched,) = stores.sitemaps.all()
    assert (watched.sitemap.source, watched.sitemap.min_interval_sec) == ("a", 1800)
    tasks = stores.frontier.take(9).leases
    assert sorted((lease.task.kind, lease.task.priority) for lease in tasks) == [("feed", 10)] * 2 + [("sitemap", 10)]


def test_the_delay_is_for_all_hosts_of_the_site_and_no_other(stores: Any) -> None:
    sync(stores, SOURCE, Source("b", "http://b.a.test/", delay_sec=2.0), Source("c", "http://192.0.2.1/", delay_sec=3))
    hosts = ("a.test", "www.a.test", "new.a.test", "feeds.elsewhere.test", "192.0.2.1")
    assert [stores.frontier.host(host).delay_sec for host in hosts] == [7, 7, 7, 1, 3]
    stores.frontier.pace("www.a.test", delay_sec=20)  # its Crawl-delay
    sync(stores, SOURCE)
    assert [stores.frontier.host(host).delay_sec for host in hosts[:2]] == [7, 20]
    sync(stores, replace(SOURCE, delay_sec=None))
    assert [stores.frontier.host(host).delay_sec for host in hosts[:2]] == [1, 20]


def test_a_source_set_by_another_process_is_found(stores: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LOOK_SEC", 0)
    book, other = (SourceBook(None, StoredSources(stores.client)) for _ in range(2))
    entry = {"name": "a", "base_url": "http://a.test/", "delay_sec": 4}
    asyncio.run(book.put(stores, entry))
    assert other.current().of("http://m.a.test/x").name == "a"
    assert list(other.known) == ["a"]
    other.drop(stores, "a")
    assert list(book.current()) == []
    assert stores.frontier.host("a.test").delay_sec == 1


def test_a_domain_delay_applies_to_all_hosts_of_the_domain(stores: Any) -> None:
    sync(stores, Source("a", "http://www.a.test/", domain_delay_sec=5.0))
    domain = stores.frontier.host("feeds.a.test").scopes["domain"]
    assert (domain.name, domain.delay_sec) == ("a.test", 5.0)
    assert stores.frontier.host("b.test").scopes["domain"].delay_sec == 0


def test_the_file_overrides_earlier_settings(stores: Any) -> None:
    sync(stores, SOURCE)
    sync(stores, Source("a", "http://a.test/", feed_urls=("http://a.test/feed",), priority=2, categories=("y",)))
    subscription = {feed.subscription.url: feed.subscription for feed in stores.registry.all()}["http://a.test/feed"]
    assert (subscription.priority, subscription.min_interval_sec, subscription.categories) == (2, None, ("x", "y"))


def test_a_source_that_is_only_crawled_is_not_subscribed(stores: Any) -> None:
    sync(stores, Source("a", "http://a.test/", feed_urls=("http://a.test/feed",), ingestion_mode="spider"))
    assert stores.registry.count() == 0


def test_a_source_without_addresses_is_searched_once(stores: Any) -> None:
    bare = Source("bare", "http://bare.test/", ingestion_mode="both")
    for _ in range(2):
        sync(stores, bare)
    assert stores.frontier.counts()["pending:site"] == 1
    (lease,) = stores.frontier.take(9, lanes=["poll"]).leases
    assert (lease.task.kind, lease.task.url, lease.task.source) == ("site_search", bare.base_url, "bare")
    feeds, sitemaps = ["http://bare.test/feed"], ["http://bare.test/s.xml"]
    searching.subscribe(bare, feeds, sitemaps, stores)
    found = searching.result(bare, stores.now(), BOTH, feeds=feeds, sitemaps=sitemaps)
    stores.searches.save(page_key(bare.base_url), found)
    stores.frontier.done(lease, reason="found")
    sync(stores, replace(bare, priority=8))
    counts = stores.frontier.counts()
    assert (counts["pending:feed"], counts["pending:sitemap"], counts["pending:site_search"]) == (1, 1, 0)
    (feed,) = stores.registry.all()
    (watched,) = stores.sitemaps.all()
    assert (feed.subscription.priority, watched.sitemap.priority) == (8, 8)
    registering.unsubscribe(stores.registry, stores.frontier, feed.id)
    sync(stores, bare)
    assert stores.registry.count() == 0


def test_a_source_that_names_its_feed_is_searched_for_sitemaps_once(stores: Any) -> None:
    source = Source("a", "http://a.test/", feed_urls=("http://feeds.test/a",))
    sync(stores, source)
    (lease,) = (each for each in stores.frontier.take(9).leases if each.task.kind == "site_search")
    stores.searches.save(page_key(source.base_url), searching.result(source, stores.now(), ["sitemap"]))
    stores.frontier.done(lease, reason="nothing_found")
    sync(stores, replace(source, priority=8))
    assert stores.frontier.counts()["pending:site_search"] == 0
    sync(stores, replace(source, feed_urls=None))  # the feed is to be found now
    assert stores.frontier.counts()["pending:site_search"] == 1
    assert searching.without_feeds([source], stores.searches) == []


def test_a_search_for_a_feed_does_not_stand_for_the_sitemaps_of_a_page(stores: Any) -> None:
    page = "http://a.test/"
    source = Source("a", page, sitemap_urls=(page,))
    stores.searches.save(page_key(page), searching.result(source, stores.now(), ["feed"]))
    assert searching.without_pages([page], stores) == [page]


def test_a_guess_that_is_no_sitemap_leaves_the_result(stores: Any, caplog: pytest.LogCaptureFixture) -> None:
    page, urls = "http://a.test/", ["http://a.test/sitemap.xml", "http://a.test/news-sitemap.xml"]
    source = Source("a", page, sitemap_urls=(page,))
    stores.searches.save(page_key(page), searching.result(source, stores.now(), ["sitemap"], sitemaps=urls))
    searching.drop_guess(stores, {"url": urls[1], "result": "http_404"})
    (found,) = stores.searches.all()
    assert (found["sitemaps"], found["tried"]) == (urls[:1], [{"url": urls[1], "result": "http_404"}])
    assert caplog.records == []


def test_a_search_without_result_stays_scheduled(stores: Any) -> None:
    bare = Source("bare", "http://bare.test/")
    sync(stores, bare)
    (lease,) = stores.frontier.take(9).leases
    stores.searches.save(page_key(bare.base_url), searching.result(bare, stores.now(), BOTH))
    stores.frontier.done(lease, status="pending", reason="nothing_found", delay_sec=1000)
    sync(stores, bare)
    assert stores.frontier.take(9).leases == ()
    assert stores.frontier.counts()["pending:site_search"] == 1


def test_a_page_replaced_by_its_sitemaps_is_not_watched_again(stores: Any) -> None:
    source = Source("a", "http://a.test/", sitemap_urls=("http://a.test/", "http://a.test/own.xml"))
    found = searching.result(source, stores.now(), ["sitemap"], sitemaps=["http://a.test/1.xml", "http://a.test/2.xml"])
    stores.searches.save(page_key("http://a.test/"), found)
    sync(stores, replace(source, sitemap_urls=("http://a.test/1.xml",)))
    sync(stores, source)
    assert {each.sitemap.url for each in stores.sitemaps.all()} == {"http://a.test/1.xml", "http://a.test/own.xml"}


def test_a_page_without_sitemaps_is_logged_once_and_searched_again_later(
    stores: Any, caplog: pytest.LogCaptureFixture
) -> None:
    page, guess = "http://a.test/", "http://a.test/sitemap.xml"
    source = Source("a", page, sitemap_urls=(page,))
    stores.again_sec = 7 * 86_400.0
    stores.searches.save(page_key(page), searching.result(source, stores.now(), ["sitemap"], sitemaps=[guess]))
    for _ in range(2):
        searching.drop_guess(stores, {"url": guess, "result": "http_404"})
    assert [record.message for record in caplog.records] == ["source_nothing_found"]
    assert searching.without_pages([page], stores) == []
    stores.again_sec = -1.0
    assert searching.without_pages([page], stores) == [page]


def test_selectors_of_a_source_apply_to_its_articles() -> None:
    assert sources.selectors_of(SOURCE) == SOURCE.selectors
    assert sources.selectors_of(None) is None


def test_a_file_is_read_or_refused_with_its_name(tmp_path: Path) -> None:
    assert sources.load(None) == {}
    path = tmp_path / "s.yaml"
    path.write_text("[{name: a, base_url: 'http://a.test'}]")
    assert sources.load(path) == {"a": Source("a", "http://a.test/")}
    for text, message in ((b"- 1", "source 1: expected a mapping"), (b"\xff", "cannot be read")):
        path.write_bytes(text)
        with pytest.raises(BadSources, match=message) as refused:
            sources.load(path)
        assert f"FEEDCRAWL_SOURCES: {path}" in refused.value.detail
    with pytest.raises(BadSources, match="No such file"):
        sources.load(tmp_path / "none.yaml")


def test_the_source_to_crawl() -> None:
    crawled = Source("c", "http://c.test/", ingestion_mode="both")
    assert sources.the_source({"c": crawled}, "c", "") is crawled
    assert sources.the_source({}, "", "c.test/news") == Source("c.test", "https://c.test/news", ingestion_mode="spider")
    for name, url, code in (("x", "", "no_such_source"), ("a", "", "not_crawled"), ("", "", "url_malformed")):
        with pytest.raises(BadSources) as refused:
            sources.the_source({"a": SOURCE}, name, url)
        assert refused.value.code == code
