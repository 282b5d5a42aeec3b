"""What was given up or lost comes back: dead letters that any program puts back, feeds that had no future any more."""

import json
from pathlib import Path

import pytest
from documents import rss
from origin import document, failure
from scrapy_process import run_scrapy
from world import World, article, entry, good_page, world_in

DEAD = "page_fetcher_dlq"


@pytest.mark.parametrize("way", ["any program", "the command"])
def test_a_dead_letter_is_retried_with_its_payload(tmp_path: Path, way: str) -> None:
    with world_in(tmp_path) as world:
        site = world.origin.site("site.test")
        url = site.serve("/late", failure(404))
        feed = site.serve("/feed", document(rss([entry(site, "late")]), content_type="application/rss+xml"))
        world.crawl("first", f"feeds={feed}", "category=news")
        with world.client() as client:
            (before,) = map(json.loads, client.lrange(DEAD, 0, -1))
            assert (before["url"], before["reason"], before["origin"]) == (url, "http_404", "feed")
            site.serve("/late", good_page("late"))
            if way == "any program":
                client.rpoplpush(DEAD, "crawler_queue")
            else:
                run = run_scrapy("dlq", "replay", url, data_dir=world.data, env=world.env)
                assert (run.code, run.out) == (0, "1 replayed, 0 refused\n")
            world.crawl("again")
            stored = article(client, url)
            assert (stored["status"], stored["category"], json.loads(stored["categories"])) == (
                "success",
                "news",
                ["news"],
            )
            payload = json.loads(before["payload"])
            assert {stored["feed_id"]} == {payload["feed_id"]} != {""}
            assert stored["entry_uid"] == payload["entry_uid"]
            assert client.llen(DEAD) == client.llen("crawler_queue") == 0
            assert client.sismember("rss:articles_by_category:news", before["uid"])


def lose_futures(world: World) -> None:
    """As if the server had lost all that the frontier wrote of the feeds."""
    with world.client() as client:
        for name in client.keys("fc:*"):
            if ":t:feed:" in name or ":delayed:poll" in name or name.endswith("sweeper"):
                client.delete(name)


def test_a_feed_that_lost_its_future_is_polled_again(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        site = world.origin.site("site.test")
        feed = site.serve("/feed", document(rss([]), content_type="application/rss+xml"))
        world.crawl("first", f"feeds={feed}")
        lose_futures(world)
        world.crawl("second")
        assert world.paths("second", "site.test") == ["/feed"]
        (logged,) = world.logged("second", "feed_without_future")
        assert logged["reason"] == "absent"
        assert logged["url"] == feed
        world.crawl("third")
        assert world.logged("third", "feed_without_future") == []
