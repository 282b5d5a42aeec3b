from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from feedcrawl.domain.robots import parse
from feedcrawl.domain.sitemaps.state import Sitemap
from feedcrawl.domain.subscriptions.specs import SubscriptionSpec
from feedcrawl.services.sites import watching
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.sites.sitemaps import Sitemaps

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
SITEMAP = Sitemap("s", "http://a.test/sitemap.xml", ("news",), priority=6)


@pytest.fixture
def stores(redis_client: redis.Redis) -> Any:
    return SimpleNamespace(sitemaps=Sitemaps(redis_client), frontier=Shard(redis_client, FrontierPolicy()))


def test_a_sitemap_is_watched_once_and_due_at_once(stores: Any) -> None:
    specs = [
        SubscriptionSpec("a.test/s.xml", ("x",)),
        SubscriptionSpec("https://a.test/s.xml#top", ("y",)),
        SubscriptionSpec("ftp://a.test/"),
    ]
    wanted, refused = watching.sitemaps_from(specs, NOW)
    assert [each.url for each in wanted] == ["https://a.test/s.xml"] * 2
    assert [each.code for each in refused] == ["url_scheme"]
    first, second = watching.watch(stores.sitemaps, stores.frontier, wanted)
    assert first == second
    watching.settle_settings(stores.sitemaps, wanted, [first, second])
    assert stores.sitemaps.load([first])[first].sitemap.categories == ("x", "y")
    (lease,) = stores.frontier.take(5).leases
    assert (lease.id, lease.task.kind, lease.task.origin) == (f"sitemap:{first}", "sitemap", "sitemap")
    assert lease.task.priority == 6


def test_a_source_overrides_the_settings_of_a_watched_sitemap(stores: Any) -> None:
    watching.watch(stores.sitemaps, stores.frontier, [replace(SITEMAP, guess=True)])
    watched = replace(SITEMAP, id="new", source="src", priority=9, categories=("more",), min_interval_sec=60.0)
    ids = watching.watch(stores.sitemaps, stores.frontier, [watched])
    watching.settle_settings(stores.sitemaps, [watched], ids)
    assert stores.sitemaps.load(["s"])["s"].sitemap == replace(watched, id="s", categories=("news", "more"))


def test_a_forgotten_sitemap_takes_its_parts_along(stores: Any) -> None:
    part = Sitemap("p", "http://a.test/p.xml", root="s", root_url=SITEMAP.url, depth=1)
    watching.watch(stores.sitemaps, stores.frontier, [SITEMAP, part])
    assert watching.forget(stores.sitemaps, stores.frontier, SITEMAP)
    assert stores.sitemaps.count() == 0
    assert stores.frontier.take(5).leases == ()


def test_the_sitemaps_of_a_site() -> None:
    named = ["/maps/one.xml", "https://cdn.test/two.xml", "http://a.test/sitemap.xml", "mailto:x"]
    page = Sitemap("s", "http://a.test/news/", ("x",))
    found = watching.of_site(page, named, NOW)
    assert [(each.url, each.guess) for each in found] == [
        ("http://a.test/maps/one.xml", False),
        ("https://cdn.test/two.xml", False),
        ("http://a.test/sitemap.xml", True),
        ("http://a.test/news-sitemap.xml", True),
    ]
    assert {each.categories for each in found} == {("x",)}
    assert len(watching.of_site(page, [f"/{n}.xml" for n in range(10_000)], NOW)) == watching.MAX_NAMED + 2


def test_a_robots_txt_names_a_hundred_sitemaps_at_most() -> None:
    lines = "".join(f"Sitemap: http://a.test/{number}.xml\n" for number in range(100_000))
    named = parse(f"Sitemap: http://a.test/robots.txt\n{lines}".encode()).sitemaps
    found = [each.url for each in watching.of_site(SITEMAP, named, NOW)]
    assert len(found) <= watching.MAX_NAMED + len(watching.GUESSES)
    assert found[:2] == ["http://a.test/robots.txt", "http://a.test/0.xml"]  # it is no sitemap, as its poll will show
