"""Archives of feeds, walked beside the polls and through a kill."""

import json
import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from documents import Item, atom
from origin import Answer, Site, document, failure
from world import World, entry, events, feed, good_page, world_in

from feedcrawl.store.subscriptions.registry import Registry


def paged(entries: list[Item], *links: str, site: Site) -> Answer:
    """An Atom document with links to others of its feed."""
    head = "".join(f'<link rel="{rel}" href="{href}"/>' for rel, href in (link.split() for link in links))
    return document(atom(entries, link=site.url("/"), head=head), content_type="application/atom+xml", etag='"1"')


def serve(site: Site, documents: int) -> list[str]:
    """A current document at /feed and archives behind it, two entries in each, and the pages of all."""
    names = [f"e{number}" for number in range(2 * documents + 2)]
    for name in names:
        site.serve(f"/{name}", good_page(name))
    for number in range(documents + 1):
        mine = [entry(site, name) for name in names[2 * number : 2 * number + 2]]
        more = [f"prev-archive {site.url(f'/archive/{number + 1}')}"] if number < documents else []
        site.serve(f"/archive/{number}" if number else "/feed", paged(mine, *more, site=site))
    return names


def journal(world: World) -> list[dict]:
    with world.client() as client:
        registry = Registry(client)
        return [line for found in registry.all() for line in registry.journal(found.id)]


def paths(world: World, run: str, host: str, start: str) -> list[str]:
    return [path for path in world.paths(run, host) if path.startswith(start)]


@pytest.fixture
def world(tmp_path: Path):
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world:
        yield world


def test_archives_are_read_once_and_only_where_requested(world: World) -> None:
    site = world.origin.site("archives.test")
    names = serve(site, 3)
    world.crawl("plain", f"feeds={site.url('/feed')}")
    assert paths(world, "plain", "archives.test", "/archive") == []
    world.crawl("backfill", f"feeds={site.url('/feed')}", "backfill=1")
    assert paths(world, "backfill", "archives.test", "/archive") == [f"/archive/{number}" for number in (1, 2, 3)]
    assert "/feed" in world.paths("backfill", "archives.test")
    world.crawl("later", "now=1", "backfill=1")
    assert world.paths("later", "archives.test") == ["/feed"]
    articles = Counter(line["url"] for line in world.lines("articles"))
    assert articles == Counter(site.url(f"/{name}") for name in names)
    with world.client() as client:
        assert len(events(client, "new_entry")) == len(names)
        (polled,) = Registry(client).all()
    ends = [line for line in journal(world) if line["result"] == "archives_read"]
    assert [(line["archives"], line["documents"], line["new"]) for line in ends] == [("end", 3, 6)]
    assert polled.polls.new_entries_last_fetch == 0  # the cadence heard of the feed's own document only


def test_walks_end(world: World) -> None:
    loop = world.origin.site("loop.test")
    for name in ("l0", "l1"):
        loop.serve(f"/{name}", good_page(name))
    loop.serve("/feed", paged([entry(loop, "l0")], f"next {loop.url('/page')}", site=loop))
    loop.serve("/page", paged([entry(loop, "l1")], f"next {loop.url('/feed')}", site=loop))
    torn = world.origin.site("torn.test")
    torn.serve("/feed", paged([], f"next {torn.url('/gone')}", site=torn))
    torn.serve("/gone", failure(404))
    page = world.origin.site("page.test")
    page.serve("/feed", paged([], f"next {page.url('/html')}", site=page))
    page.serve("/html", good_page("html"))
    deep = world.origin.site("deep.test")
    serve(deep, 4)
    whole = world.origin.site("whole.test")
    whole.serve("/feed", feed([]), feed([]))
    urls = ",".join(site.url("/feed") for site in (loop, torn, page, deep, whole))
    world.crawl("all", f"feeds={urls}", "backfill=1", FEEDCRAWL_MAX_ARCHIVE_PAGES="2")
    ends = Counter((line["archives"], line.get("documents", 0)) for line in journal(world) if "archives" in line)
    began = {("next", 0): 3, ("prev_archive", 0): 1, ("end", 0): 1}
    assert ends == Counter({**began, ("loop", 1): 1, ("http_404", 0): 1, ("html", 0): 1, ("limit", 2): 1})
    with world.client() as client:
        letters = [json.loads(letter) for letter in client.lrange("page_fetcher_dlq", 0, -1)]
    assert sorted((letter["url"], letter["reason"]) for letter in letters) == sorted(
        [(torn.url("/gone"), "http_404"), (page.url("/html"), "html")]
    )


def test_a_killed_walk_continues_at_its_document(world: World) -> None:
    site = world.origin.site("killed.test")
    names = serve(site, 12)
    limits = {f"FEEDCRAWL_{kind}_TIMEOUT_SEC": "1.5" for kind in ("FETCH", "ARTICLE", "ROBOTS", "SITEMAP", "RENDER")}
    process = world.start(f"feeds={site.url('/feed')}", "backfill=1", FEEDCRAWL_LEASE_SEC="2", **limits)
    world.until(lambda: any(request.target == "/archive/5" for request in world.origin.ledger.requests))
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    world.leases_expire()  # what another worker holds keeps no run
    world.crawl("after")
    again = paths(world, "after", "killed.test", "/archive")
    assert again[0] in ("/archive/5", "/archive/6")
    assert again[-1] == "/archive/12"
    assert {line["url"] for line in world.lines("articles")} == {site.url(f"/{name}") for name in names}
    with world.client() as client:
        assert len({each["event"] for each in events(client, "new_entry")}) == len(names)
