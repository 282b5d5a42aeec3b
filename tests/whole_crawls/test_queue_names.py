"""The input queue and the list of dead letters under names of the operator."""

import json
from pathlib import Path

from origin import failure
from world import article, good_page, world_in


def test_the_names_of_the_queues_are_settings(tmp_path: Path) -> None:
    names = {"FEEDCRAWL_QUEUE_NAME": "team:urls", "FEEDCRAWL_DLQ_NAME": "team:dead", "FEEDCRAWL_QUEUE_POLL_SEC": "0.2"}
    with world_in(tmp_path, **names) as world, world.client() as client:
        site = world.origin.site("a.test")
        good, gone = site.serve("/good", good_page("good")), site.serve("/gone", failure(404))
        client.rpush("team:urls", good, gone, "no url")
        client.rpush("{team:urls}:taken:dead-worker:1", site.serve("/left", good_page("left")))
        client.rpush("crawler_queue", site.url("/of-somebody-else"))
        world.crawl("first", spider="articles")
        assert article(client, good)["status"] == "success"
        assert article(client, site.url("/left"))["status"] == "success"
        letters = [json.loads(text) for text in client.lrange("team:dead", 0, -1)]
        assert sorted(each["reason"] for each in letters) == ["http_404", "url_malformed"]
        assert client.keys("*taken*") == []
        assert client.exists("page_fetcher_dlq") == 0
        assert client.lrange("crawler_queue", 0, -1) == [site.url("/of-somebody-else")]
        with world.wired() as wired:
            assert wired.dead_letters.count() == 2
            assert wired.dashboard.queued() == 0
