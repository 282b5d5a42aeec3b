"""Passwords and tokens of URLs stay in the stores that fetch with them."""

import json
from pathlib import Path

from documents import rss
from origin import document, failure, redirect
from scrapy_process import run_scrapy
from world import article, entry, good_page, world_in

SECRET = "TOP5ECRET"


def test_no_secret_is_logged_printed_or_handed_to_other_programs(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        site = world.origin.site("site.test")
        good = site.serve(f"/good?session={SECRET}", good_page("good"))
        links = [
            entry(site, f"good?session={SECRET}"),
            entry(site, f"late?sig={SECRET}"),
            entry(site, f"away?key={SECRET}"),
        ]
        site.serve(f"/late?sig={SECRET}", failure(404))
        site.serve(f"/away?key={SECRET}", redirect(f"http://ann:{SECRET}@site.test/"))
        feed = site.serve(f"/feed?token={SECRET}", document(rss(links), content_type="application/rss+xml"))
        refused = f"http://ann:{SECRET}@site.test/feed"
        with world.client() as client:
            client.rpush(
                "crawler_queue",
                refused,
                json.dumps({"url": refused}),
                json.dumps({"url": good, "priority": 99}),
            )

        def printed(*command: str) -> str:
            ran = run_scrapy(*command, data_dir=world.data, env=world.env)
            return ran.out + ran.err

        shown = [printed("subscribe", "--as-is", feed)]
        assert "token=***" in shown[0]
        world.crawl("crawl")
        shown += [printed("feeds"), printed("why", feed), printed("dlq", "list"), printed("dlq", "list", "--json")]
        shown += [printed("frontier", "urls"), printed("feeds", "move", feed, refused), printed("unsubscribe", feed)]
        logged = world.runs["crawl"].err + world.runs["crawl"].out
        assert "queue_item_refused" in logged
        assert SECRET not in logged
        assert [each for each in shown if SECRET in each] == []
        with world.client() as client:
            assert article(client, good)["status"] == "success"  # it was fetched with its secret
            letters = client.lrange("page_fetcher_dlq", 0, -1)
            events = client.xrange("feedcrawl:events")
            assert len(letters) >= 4
            assert {fields["type"] for _, fields in events} >= {"new_entry", "article_ready", "article_failed"}
            assert [each for each in map(str, [*letters, *events]) if SECRET in each] == []
