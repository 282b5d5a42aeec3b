"""A feed whose address shows a page, or nothing, is found again by its entries; an operator moves feeds at will."""

from dataclasses import replace
from pathlib import Path

from origin import Answer, failure, html
from scrapy_process import run_scrapy
from world import entry, events, feed, good_page, world_in

from feedcrawl.domain.cadence.state import to_json
from feedcrawl.domain.subscriptions.records import dump
from feedcrawl.store.subscriptions.registry import Registry

LOST = html("<html><head><title>Welcome</title></head><body><h1>Our new site</h1></body></html>")


def page(*feeds: str) -> Answer:
    links = "".join(f'<link rel="alternate" type="application/rss+xml" href="{url}">' for url in feeds)
    return html(f"<html><head><title>Home</title>{links}</head><body><h1>Home</h1></body></html>")


def test_a_lost_feed_is_found_by_its_entries(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world, world.client() as client:
        site = world.origin.site("lost.test")
        names = ("a", "b", "c", "d")
        for name in names:
            site.serve(f"/{name}", good_page(name))
        items = [entry(site, name, hour=number) for number, name in enumerate(names)]
        body = feed(items[:3]).body.decode().replace("<channel>", f"<channel><link>{site.url('/')}</link>")
        site.serve("/feed", feed(items[:3], etag=None).__class__(body=body.encode()), LOST)
        gone = site.serve("/gone", feed([entry(site, "x", hour=9)]), failure(404))
        site.serve("/x", good_page("x"))
        site.serve("/", page("/other", "/new"))
        site.serve("/other", feed([entry(site, "y", hour=9)]))
        site.serve("/new", feed(items))
        registry = Registry(client)
        world.crawl("first", f"feeds={site.url('/feed')},{gone}")
        ids = {found.subscription.url: found.id for found in registry.all()}
        for found in registry.all():
            record = replace(found.polls, cadence=to_json(replace(found.polls.cadence_state, errors=2)))
            client.set(f"fc:{{0}}:polls:{found.id}", dump(replace(record, site_url=site.url("/"))))
        world.crawl("search", "now=1", FEEDCRAWL_LINGER_SEC="2")
        found = {each.subscription.url: each for each in registry.all()}
        assert set(found) == {site.url("/new"), gone}
        moved, lost = found[site.url("/new")], found[gone]
        assert moved.id == ids[site.url("/feed")]
        assert (moved.subscription.formerly, moved.polls.last_result) == ((site.url("/feed"),), "fetched")
        assert (lost.polls.last_result, lost.polls.last_status) == ("http_404", 404)
        assert lost.polls.searched_at is not None
        line = registry.journal(moved.id)[0]
        assert (line["moved_from"], line["moved_to"], line["new"], line["known"]) == (
            site.url("/feed"), site.url("/new"), 1, 3,
        )  # fmt: skip
        assert {each["title"] for each in events(client, "new_entry")} == {f"About {name}" for name in "abcdx"}

        undone = run_scrapy("feeds", "undo-move", site.url("/new"), data_dir=world.data, env=world.env)
        assert undone.code == 0, undone.err
        home = registry.load([moved.id])[moved.id].subscription
        assert (home.url, home.formerly, home.refused) == (site.url("/feed"), (), (site.url("/new"),))
        undone = run_scrapy("feeds", "move", site.url("/feed"), site.url("/other"), data_dir=world.data, env=world.env)
        assert undone.code == 0, undone.err
        world.crawl("there", FEEDCRAWL_LINGER_SEC="1")
        assert registry.load([moved.id])[moved.id].subscription.url == site.url("/other")
        assert "/other" in world.paths("there", site.name)
        taken = run_scrapy("feeds", "move", site.url("/other"), gone, data_dir=world.data, env=world.env)
        assert (taken.code, "subscribed_already" in taken.err) == (2, True)
