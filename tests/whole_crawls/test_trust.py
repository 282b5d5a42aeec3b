"""Servers whose validators cannot be believed, documents that change in nothing that counts, and what is missed."""

import time
from dataclasses import replace
from pathlib import Path

from ledger import Request
from origin import Answer, document
from world import World, entry, events, feed, good_page, world_in

from feedcrawl.domain.subscriptions.records import Feed, dump
from feedcrawl.store.sites.sitemaps import Sitemaps
from feedcrawl.store.subscriptions.registry import Registry

MODIFIED = Answer(status=304)


def conditional(world: World, run: str, host: str) -> list[bool]:
    """Of each request for the feed in a run: whether it was conditional."""
    requests = [request for request in world.requests[run] if (request.host, request.path) == (host, "/feed")]
    return [request.conditional for request in requests]


def only_feed(registry: Registry) -> Feed:
    (found,) = registry.all()
    return found


def test_a_server_that_answers_everything_with_304_is_recognised(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world, world.client() as client:
        site, entries = world.origin.site("deaf.test"), []

        def answer(request: Request) -> Answer:
            if request.conditional:
                return MODIFIED
            return feed(entries, version=len(entries))

        for name in ("a", "b", "c", "d"):
            site.serve(f"/{name}", good_page(name))
        url, registry = site.serve("/feed", answer), Registry(client)
        entries += [entry(site, name) for name in ("a", "b")]
        world.crawl("first", f"feeds={url}")
        entries.append(entry(site, "c", hour=1))
        world.crawl("lies", "now=1")
        found = only_feed(registry)
        assert (conditional(world, "lies", site.name), found.polls.last_result) == ([True], "not_modified")

        trust = {"whole_at": time.time() - 100_000, "unmodified": 3}
        client.set(f"fc:{{0}}:polls:{found.id}", dump(replace(found.polls, trust=trust)))
        world.crawl("probe", "now=1")
        assert conditional(world, "probe", site.name) == [False]
        assert len(events(client, "new_entry")) == 3
        entries.append(entry(site, "d", hour=2))
        world.crawl("test", "now=1")
        assert conditional(world, "test", site.name) == [True, False]  # the version before, and then the whole
        assert len(events(client, "new_entry")) == 4
        assert only_feed(registry).polls.trust == only_feed(registry).polls.trust | {"etag": "deaf"}
        world.crawl("after", "now=1")
        assert conditional(world, "after", site.name) == [False]
        assert [line.get("asked") for line in registry.journal(found.id)] == [None, None, "probe", None, None]


def test_an_unrequested_304_is_requested_again(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world, world.client() as client:
        site = world.origin.site("rude.test")
        site.serve("/a", good_page("a"))
        site.serve("/feed", MODIFIED, feed([entry(site, "a")], etag=None))
        stubborn = site.serve("/stubborn", MODIFIED)
        world.crawl("first", f"feeds={site.url('/feed')},{stubborn}")
        assert len(events(client, "new_entry")) == 1
        assert world.paths("first", site.name).count("/feed") == world.paths("first", site.name).count("/stubborn") == 2
        results = {found.subscription.url: found.polls.last_result for found in Registry(client).all()}
        assert results == {site.url("/feed"): "fetched", stubborn: "unasked_304"}


def test_an_unrequested_304_loses_no_article(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1", FEEDCRAWL_MAX_ATTEMPTS="2") as world:
        site = world.origin.site("rude.test")
        site.serve("/once", MODIFIED, good_page("once"))
        stubborn = site.serve("/always", MODIFIED)
        feed_url = site.serve("/feed", feed([entry(site, "once"), entry(site, "always")]))
        run = world.crawl("first", f"feeds={feed_url}")
        assert [line["url"] for line in world.lines("articles")] == [site.url("/once")]
        (refused,) = world.logged("first", "article_refused")
        assert (refused["url"], refused["code"], refused["reason"]) == (stubborn, "FAIL_HTTP", "unasked_304")
        assert run.code == 0


def test_an_unrequested_304_is_no_reading_of_a_sitemap(tmp_path: Path) -> None:
    with world_in(tmp_path) as world, world.client() as client:
        site = world.origin.site("rude.test")
        listed = document(site.serve("/a", good_page("a")), content_type="text/plain")
        sitemap = site.serve("/sitemap.txt", MODIFIED, listed)
        world.crawl("first", f"sitemaps={sitemap}", spider="sitemaps")
        (watched,) = Sitemaps(client).all()
        assert (watched.record.last_result, watched.record.last_success_at) == ("unasked_304", None)
        world.crawl("second", "now=1", spider="sitemaps")
        assert [line["url"] for line in world.lines("articles")] == [site.url("/a")]


def test_a_stamp_in_a_document_changes_nothing(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world, world.client() as client:
        site = world.origin.site("stamps.test")
        site.serve("/a", good_page("a"))
        body = feed([entry(site, "a")]).body.decode()
        stamps = [f"<channel><lastBuildDate>Fri, 27 Nov 2026 10:0{each}:00 GMT</lastBuildDate>" for each in range(3)]
        versions = [
            document(body.replace("<channel>", stamp), etag=f'"{number}"') for number, stamp in enumerate(stamps)
        ]
        site.serve("/feed", *versions)
        world.crawl("first", f"feeds={site.url('/feed')}")
        for run in ("second", "third"):
            world.crawl(run, "now=1")
        found = only_feed(Registry(client))
        results = [line["result"] for line in Registry(client).journal(found.id)]
        assert results == ["unchanged", "unchanged", "fetched"]
        assert found.polls.trust is not None
        assert found.polls.trust["strikes"] == 2
        assert events(client, "entry_updated") == []


def test_entries_that_came_and_went_are_fetched_from_the_archive(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world, world.client() as client:
        site = world.origin.site("fast.test")
        names = [f"e{number}" for number in range(8)]
        for name in names:
            site.serve(f"/{name}", good_page(name))
        items = [entry(site, name, hour=number) for number, name in enumerate(names)]

        def shown(first: int, last: int, older: str = "") -> Answer:
            body = feed(items[first:last][::-1]).body.decode()
            link = f'<a:link xmlns:a="http://www.w3.org/2005/Atom" rel="next" href="{older}"/>' if older else ""
            return document(body.replace("<channel>", f"<channel>{link}"), etag=f'"{first}-{last}"')

        site.serve("/feed", shown(0, 2), shown(6, 8, "/feed?page=2"))
        site.serve("/feed?page=2", shown(4, 6, "/feed?page=3"))
        site.serve("/feed?page=3", shown(1, 4, "/feed?page=4"))
        world.crawl("first", f"feeds={site.url('/feed')}")
        world.crawl("later", "now=1", FEEDCRAWL_LINGER_SEC="2")
        assert len(events(client, "new_entry")) == 8
        assert "/feed?page=4" not in world.paths("later", site.name)  # the third shows a known entry
        found = only_feed(Registry(client))
        lines = Registry(client).journal(found.id)
        assert [(line["result"], line.get("archives"), line.get("possibly_missed")) for line in lines] == [
            ("archives_read", "overlap", None),
            ("fetched", "next", 1),
            ("fetched", None, None),
        ]
        assert (found.polls.possibly_missed, found.polls.archives) == (1, None)
        assert len(world.logged("later", "entries_possibly_missed")) == 1
