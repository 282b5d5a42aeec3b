import time
from collections.abc import Callable
from dataclasses import replace

import pytest
import redis

from feedcrawl.domain.frontier.payloads import Payload
from feedcrawl.domain.frontier.tasks import SITE_LANE, Task
from feedcrawl.domain.sites.owners import Sources
from feedcrawl.domain.sites.sources import Source
from feedcrawl.domain.urls import url_uid
from feedcrawl.services.frontier.leases import Leases
from feedcrawl.services.sites import crawling
from feedcrawl.services.sites.crawling import SiteRun
from feedcrawl.store.frontier.interface import Frontier
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.sites.site_runs import SiteRuns

SOURCE = Source(
    "s", "http://a.test/", ingestion_mode="both", categories=("x", "y"), priority=8, keep_trailing_slash=True
)
Begin = Callable[..., SiteRun]
BASE = crawling.site_task(SOURCE)


@pytest.fixture
def frontier(redis_client: redis.Redis) -> Frontier:
    return Shard(redis_client, FrontierPolicy(host_delay_sec=0, host_concurrency=99))


@pytest.fixture
def begin(redis_client: redis.Redis, frontier: Frontier) -> Begin:
    def made(max_pages: int = 100, *, is_base: bool = True) -> SiteRun:
        run = SiteRun(SOURCE, SiteRuns(redis_client), frontier, Leases(frontier), max_pages=max_pages)
        run.begin(is_base=is_base)
        return run

    return made


def pages(*names: str) -> list[Task]:
    return crawling.listing_tasks([f"http://a.test/{name}" for name in names], BASE, SOURCE)


def read(frontier: Frontier) -> list[str]:
    """Takes what may be taken, and ends it as read, which takes longer than a tick of the server's clock."""
    leases = frontier.take(99, lanes=[SITE_LANE]).leases
    time.sleep(0.002)
    for lease in leases:
        frontier.done(lease)
    return sorted(lease.task.url.rpartition("/")[2] for lease in leases)


def test_a_run_asks_each_page_once_and_the_next_run_again(begin: Begin, frontier: Frontier) -> None:
    run = begin()
    assert run.follow(pages("1", "2", "2")) == 2
    assert begin(is_base=False).follow(pages("2", "3")) == 1
    assert read(frontier) == ["1", "2", "3"]
    assert begin(is_base=False).follow(pages("1", "2", "3")) == 0
    assert begin().follow(pages("1", "3")) == 2
    assert read(frontier) == ["1", "3"]


def test_an_interrupted_run_goes_on(begin: Begin, frontier: Frontier) -> None:
    run = begin()
    run.follow(pages("1"))
    read(frontier)
    run.follow(pages("2"))
    again = begin()
    assert again.follow(pages("1", "2")) == 0
    assert read(frontier) == ["2"]


def test_pages_of_a_run_are_capped(begin: Begin, frontier: Frontier) -> None:
    run = begin(max_pages=4)  # with the base
    assert [run.follow(pages(*names)) for names in ("ab", "cd", "e")] == [2, 1, 0]
    assert read(frontier) == ["a", "b", "c"]


def test_a_listing_is_a_link_deeper_than_its_page() -> None:
    page = replace(BASE, depth=2, payload={"base": "http://a.test/", "max_depth": 4, "redirect_chain": ["x"]})
    urls = ["http://a.test/s/1", "http://a.test/s/1#top", "http://a.test/", "http://a b/"]
    (task,) = crawling.listing_tasks(urls, page, SOURCE)
    assert (task.kind, task.url, task.depth, task.parent, task.source) == ("listing", urls[0], 3, BASE.url, "s")
    assert (task.priority, task.payload) == (5, {"base": "http://a.test/", "max_depth": 4})


@pytest.mark.parametrize(
    ("sources", "payload", "expected"),
    [
        ([replace(SOURCE, ingestion_mode="feed")], {}, None),
        ([SOURCE], {}, "both"),
        ([], {}, None),
        ([], {"base": "http://a.test/"}, "spider"),
    ],
)
def test_the_source_of_a_listing(sources: list[Source], payload: Payload, expected: str | None) -> None:
    found = crawling.source_of(replace(BASE, payload=payload), Sources(sources))
    assert (found and found.ingestion_mode) == expected


def test_a_source_is_scheduled_once_and_again_after_its_end(frontier: Frontier) -> None:
    for _ in range(2):
        crawling.schedule(SOURCE, frontier)
    (lease,) = frontier.take(9, lanes=[SITE_LANE]).leases
    assert (lease.id, lease.task.url, lease.task.source) == ("site:s", SOURCE.base_url, "s")
    frontier.done(lease, status="dead", reason="not_crawled")
    crawling.schedule(SOURCE, frontier)
    assert [each.id for each in frontier.take(9, lanes=[SITE_LANE]).leases] == ["site:s"]
    assert frontier.take(9).leases == ()


def test_articles_of_a_page() -> None:
    urls = ("http://a.test/x/", "http://a b/", "http://a.test/y")
    options = crawling.options_of(SOURCE, "http://a.test/list", 1)
    first, second = (task for task, _ in crawling.submitted(urls, Sources([SOURCE]), options))
    assert (first.id, second.id) == (url_uid(urls[0], keep_trailing_slash=True), url_uid(urls[2]))
    assert (first.origin, first.priority, first.depth, first.parent) == ("spider", 6, 2, "http://a.test/list")
    assert (first.source, first.category) == ("s", "x")
    assert first.payload == {"categories": ["x", "y"], "keep_trailing_slash": True}


def test_articles_of_other_sites_are_not_the_sources() -> None:
    options = crawling.external(crawling.options_of(SOURCE, "http://a.test/list", 0))
    ((task, again),) = crawling.submitted(["http://b.test/x", "ftp://b.test/"], Sources([SOURCE]), options)
    assert (task.source, task.category, task.payload, again) == (None, None, {}, "")
