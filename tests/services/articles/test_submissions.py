import asyncio

import pytest
import redis

from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.sites.owners import Sources
from feedcrawl.domain.sites.sources import Source
from feedcrawl.services.articles.submissions import BATCH, Submissions, batches
from feedcrawl.services.articles.tasks import article_task
from feedcrawl.services.frontier.leases import Leases
from feedcrawl.store.articles.records import Articles, Lifetimes
from feedcrawl.store.frontier.interface import Frontier
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy


@pytest.fixture
def frontier(redis_client: redis.Redis) -> Frontier:
    return Shard(redis_client, FrontierPolicy(host_delay_sec=0, host_concurrency=999))


@pytest.fixture
def submissions(redis_client: redis.Redis, frontier: Frontier) -> Submissions:
    return Submissions(redis_client, Articles(redis_client, Lifetimes()), Leases(frontier))


def tasks(count: int, *sources: Source) -> list[tuple[Task, str]]:
    known = Sources(sources)
    return [(article_task(f"http://a.test/{number}/?utm_source=x", known), "") for number in range(count)]


def test_a_url_submitted_twice_is_a_single_task(submissions: Submissions, frontier: Frontier) -> None:
    assert asyncio.run(submissions.submit(iter(tasks(3 * BATCH)), ())) == 3 * BATCH
    assert asyncio.run(submissions.submit(iter(tasks(3 * BATCH + 1)), ())) == 1
    assert frontier.counts()["pending:article"] == 3 * BATCH + 1


def test_categories_get_links_and_stored_articles(
    submissions: Submissions, frontier: Frontier, redis_client: redis.Redis
) -> None:
    asyncio.run(submissions.submit(iter(tasks(1)), ["first"]))
    (lease,) = frontier.take(1).leases
    frontier.done(lease)
    redis_client.hset(f"rss:article_canonical:{lease.id}", "status", "success")
    assert asyncio.run(submissions.submit(iter(tasks(1, Source("a", "http://a.test"))), ["second"])) == 0
    for name in ("first", "second"):
        assert redis_client.smembers(f"rss:category_links:{name}") == {"http://a.test/0"}
    assert redis_client.smembers("rss:articles_by_category:second") == {lease.id}


def test_a_link_is_known_by_the_slash_of_its_source(submissions: Submissions, redis_client: redis.Redis) -> None:
    asyncio.run(submissions.submit(iter(tasks(1, Source("a", "http://a.test", keep_trailing_slash=True))), ["kept"]))
    assert redis_client.smembers("rss:category_links:kept") == {"http://a.test/0/"}


def test_an_edited_page_is_no_new_link(submissions: Submissions, redis_client: redis.Redis) -> None:
    asyncio.run(submissions.submit(iter([(tasks(1)[0][0], "edited")]), ["news"]))
    assert not redis_client.exists("rss:category_links:news")


def test_batches() -> None:
    assert [len(batch) for batch in batches(iter(range(BATCH + 1)))] == [BATCH, 1]
    assert list(batches(iter(()))) == []
