"""Kills between any two steps and at any moment: work is repeated, and none is lost and none stored twice.

FEEDCRAWL_TEST_KILLS is how often a worker is killed at random (default 2); many belong to a night of their own.
"""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from documents import rss
from origin import document
from world import World, entry, events, good_page, world_in

from feedcrawl.domain.urls import url_uid
from feedcrawl.store.connection import connect
from feedcrawl.store.frontier import Frontier, FrontierPolicy

KILLS = int(os.environ.get("FEEDCRAWL_TEST_KILLS", "2"))
SITES, PAGES = 4, 4 + 2 * KILLS
LEASE_SEC = 2.0
DYING = """
import os, signal, sys
from importlib import import_module
from scrapy.cmdline import execute

step, kind = sys.argv[1:3]
pipeline = getattr(import_module(f"feedcrawl.pipelines.{step}"), f"{step.capitalize()}Pipeline")
whole = pipeline.process_item


def dying(self, item):
    done = whole(self, item)
    if item.type == kind:
        os.kill(os.getpid(), signal.SIGKILL)
    return done


pipeline.process_item = dying
execute(["scrapy", *sys.argv[3:]])
"""
"""Scrapy's command line, killed when the first item of a kind has passed a step."""
STEPS = [
    *(("disk", "poll"), ("store", "poll"), ("publish", "poll")),
    *(("dedupe", "article"), ("disk", "article"), ("publish", "article")),
]
"""Those after which something is there that was not before."""
LIMITS = {
    "FEEDCRAWL_LEASE_SEC": str(LEASE_SEC),
    **{f"FEEDCRAWL_{kind}_TIMEOUT_SEC": "1.5" for kind in ("FETCH", "ARTICLE", "ROBOTS", "SITEMAP", "RENDER")},
}


def filled(world: World) -> list[str]:
    """Feeds of hosts that answer slowly enough for a lease to be held at any moment; returns the URLs of all pages."""
    urls, feeds = [], []
    for number in range(SITES):
        site = world.origin.site(f"site-{number}.test")
        entries = [entry(site, f"p{number}-{page}") for page in range(PAGES)]
        urls += [
            site.serve(f"/p{number}-{page}", good_page(f"{number}/{page}", wait_sec=0.05)) for page in range(PAGES)
        ]
        answer = document(rss(entries), content_type="application/rss+xml", etag='"1"', wait_sec=0.05)
        feeds.append(site.serve("/feed", answer))
    world.feeds_file("".join(f"{feed} kept\n" for feed in feeds))
    return urls


def asked(world: World) -> int:
    return len(world.origin.ledger.requests)


def counter(world: World, more: int) -> Callable[[], bool]:
    """Whether so many more requests have come."""
    before = asked(world)
    return lambda: asked(world) >= before + more


def kill(worker: subprocess.Popen[bytes]) -> None:
    """The worker alone: its children must end by themselves, and the server goes on."""
    worker.kill()
    worker.wait()


def children_are_gone(worker: subprocess.Popen[bytes]) -> bool:
    try:
        os.killpg(worker.pid, 0)
    except ProcessLookupError:
        return True
    return False


def check(world: World, urls: list[str]) -> None:
    """Nothing lost, nothing stored twice, no lease left."""
    uids = {url_uid(url) for url in urls}
    with connect(url=world.url, data_dir=world.data) as connection:
        client = connection.client
        frontier = Frontier(client, FrontierPolicy())
        ended = [frontier.find(uid) for uid in uids]
        assert Counter(found[1].status if found else "lost" for found in ended) == {"fetched": len(uids)}
        assert frontier.counts()["leased"] == 0
        assert Counter(found[1].fetch_count for found in ended if found) == {1: len(uids)}
        stored = {key.rpartition(":")[2] for key in client.scan_iter("rss:article_canonical:*")}
        assert stored == uids == client.smembers("rss:articles_by_category:kept")
        assert {client.hget(f"rss:article_canonical:{uid}", "status") for uid in uids} == {"success"}
        for kind in ("new_entry", "article_ready"):
            assert len({event["event"] for event in events(client, kind)}) == len(uids)
    for kind, name in (("articles", "uid"), ("entries", "entry_uid")):
        versions = {(line[name], line["content_hash"]) for line in world.lines(kind)}
        assert len(versions) == len(uids), kind


@pytest.mark.timeout(180 + 15 * KILLS)
def test_killed_workers_lose_nothing(tmp_path: Path) -> None:
    chance = random.Random(4)
    patient = {"FEEDCRAWL_MAX_ATTEMPTS": "1000"}  # a task that outlives four workers is given up otherwise
    with world_in(tmp_path, embedded=True, **LIMITS | patient) as world:
        urls = filled(world)
        arguments = (f"feeds={world.folder / 'feeds.txt'}", "forever=1")
        for step, kind in STEPS:
            worker = world.start(*arguments, command=("-c", DYING, step, kind))
            assert worker.wait(timeout=40) == -signal.SIGKILL, world.logs()
        for _ in range(KILLS):
            worker = world.start(*arguments)
            world.until(counter(world, chance.randint(2, 8)))
            time.sleep(chance.uniform(0, 0.1))
            kill(worker)
        time.sleep(LEASE_SEC)
        world.until(lambda: all(map(children_are_gone, world.started)))
        world.crawl("last")
        check(world, urls)


def test_a_killed_server_is_waited_for(tmp_path: Path) -> None:
    with world_in(tmp_path, embedded=True, **LIMITS) as world:
        urls = filled(world)
        worker = world.start(f"feeds={world.folder / 'feeds.txt'}")
        servers = set()
        for _ in range(2):
            world.until(counter(world, SITES + 4))
            with world.client() as client:
                servers.add(server := int(client.info("server")["process_id"]))
            os.kill(server, signal.SIGKILL)
        assert worker.wait(timeout=40) == 0, world.logs()
        assert len(servers) == 2
        check(world, urls)


def test_a_disk_that_is_away_costs_no_article(tmp_path: Path) -> None:
    with world_in(tmp_path, **LIMITS) as world:
        site = world.origin.site("site.test")
        urls = [site.serve("/page", good_page("page"))]
        answer = document(rss([entry(site, "page")]), content_type="application/rss+xml", etag='"1"')
        world.feeds_file(f"{site.serve('/feed', answer)} kept\n")
        world.data.mkdir()
        (world.data / "articles").write_text("in the way of the directory")
        world.crawl("away", f"feeds={world.folder / 'feeds.txt'}", code=1)
        with world.client() as client:
            assert events(client, "article_ready") == []
            assert client.keys("rss:article_canonical:*") == []
            assert client.scard("rss:canonical_attempted") == 0
        (world.data / "articles").unlink()
        world.crawl("back", FEEDCRAWL_LINGER_SEC="6")
        check(world, urls)
