"""A feed that has moved for good, to another host and by way of one: the same feed at another address."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from origin import redirect
from scrapy_process import run_scrapy
from world import entry, events, feed, good_page, world_in

from feedcrawl.domain.subscriptions.records import dump
from feedcrawl.store.subscriptions.registry import Registry


def test_a_feed_moves_and_keeps_its_entries(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world, world.client() as client:
        old, new = world.origin.site("old.test"), world.origin.site("new.test")
        entries = [entry(new, name) for name in ("a", "b")]
        for name in ("a", "b"):
            new.serve(f"/{name}", good_page(name))
        here = feed(entries, etag=None)
        moved, passing = redirect(old.url("/hop")), redirect(new.url("/feed"), 302)
        old.serve("/feed", here, moved)
        old.serve("/hop", redirect(new.url("/feed"), 308))
        old.serve("/passing", here, passing)
        new.serve("/feed", here)
        registry = Registry(client)
        urls = old.url("/feed"), old.url("/passing")
        world.crawl("first", f"feeds={','.join(urls)}")
        ids = {found.id for found in registry.all()}
        for number in range(3):
            world.crawl(f"again {number}", "now=1")
        by_url = {found.subscription.url: found for found in registry.all()}
        assert set(by_url) == set(urls)
        moving = by_url[urls[0]].polls.moving
        assert moving is not None
        assert (moving["url"], moving["polls"]) == (new.url("/feed"), 3)
        assert by_url[urls[1]].polls.moving is None

        since = (datetime.now(UTC) - timedelta(days=2)).isoformat()
        record = replace(by_url[urls[0]].polls, moving={**moving, "since": since})
        client.set(f"fc:{{0}}:polls:{by_url[urls[0]].id}", dump(record))
        world.crawl("moves", "now=1")
        assert {found.subscription.url for found in registry.all()} == {new.url("/feed"), urls[1]}
        assert {found.id for found in registry.all()} == ids
        assert [each["to"] for each in world.logged("moves", "feed_moved")] == [new.url("/feed")]
        world.crawl("there", f"feeds={urls[0]}", "now=1")  # the old address still leads to it
        assert world.paths("there", "old.test") == []
        assert {found.id for found in registry.all()} == ids
        assert len(events(client, "new_entry")) == 4
        assert len(world.lines("articles")) == 2


def test_a_strangers_feed_brings_no_news_until_an_operator_believes_the_move(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world, world.client() as client:
        old, stranger = world.origin.site("old.test"), world.origin.site("stranger.test")
        for name in ("a", "b"):
            old.serve(f"/{name}", good_page(name))
        for name in ("x", "y"):
            stranger.serve(f"/{name}", good_page(name))
        old.serve("/feed", feed([entry(old, name) for name in ("a", "b")]), redirect(stranger.url("/feed")))
        stranger.serve("/feed", feed([entry(stranger, name) for name in ("x", "y")], etag=None))
        world.crawl("first", f"feeds={old.url('/feed')}")
        world.crawl("strange", "now=1")
        assert len(events(client, "new_entry")) == 2
        assert world.paths("strange", "stranger.test") == ["/feed"]
        with world.wired() as wired:
            (found,) = wired.registry.all()
            line = wired.registry.journal(found.id)[0]
        assert (found.polls.last_result, found.polls.etag, found.polls.moving) == ("strange_feed", '"v1"', None)
        assert (line["result"], "new" in line) == ("strange_feed", False)
        moved = run_scrapy("feeds", "move", old.url("/feed"), stranger.url("/feed"), data_dir=world.data, env=world.env)
        assert moved.code == 0, moved.err
        world.crawl("believed")
        assert len(events(client, "new_entry")) == 4
