"""Redis or the disk in trouble while a crawl runs: it pauses, says why, and goes on by itself; nothing is lost.

A server that was emptied is never taken for a new one.
"""

import json
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from documents import rss
from origin import OriginServer, Site, document
from redis_process import Server, redis_of_its_own
from scrapy_process import run_scrapy
from warcio.archiveiterator import ArchiveIterator
from world import World, article, entry, good_page

BACK_SEC = 15.0
"""Within this time a crawl goes on once what was wrong is right again."""
WATCHFUL = """
import sys
from scrapy.cmdline import execute
from feedcrawl.extensions import snapshot, watch

watch.LOOK_SEC = snapshot.FIRST_SEC = 1.0
execute(["scrapy", *sys.argv[1:]])
"""
FULL = """
import errno, os, stat, sys
from scrapy.cmdline import execute

write, flag = os.write, sys.argv[1]


def half(fd, data):
    # What a disk does that fills up: it takes some of it, and then nothing.
    if os.path.exists(flag) and stat.S_ISREG(os.fstat(fd).st_mode):
        if len(data) < 100:
            with open(f"{flag}.tries", "ab") as tries:
                tries.write(b".")
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(fd, data[: len(data) // 2])
    return write(fd, data)


os.write = half
execute(["scrapy", *sys.argv[2:]])
"""


@pytest.fixture
def server() -> Iterator[Server]:
    with redis_of_its_own() as server:
        yield server


@pytest.fixture
def world(server: Server, tmp_path: Path) -> Iterator[World]:
    origin = OriginServer()
    world = World(origin.fresh(), f"{server.url}?socket_timeout=1", tmp_path)
    world.origin.hosts_file = tmp_path / "hosts"
    yield world
    world.end()
    origin.close()


def logged(world: World, event: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in world.logs().splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == event]


def fetched(world: World, site: Site, name: str) -> Callable[[], bool]:
    """Queues a page as another program would; whether all has been done with it."""
    url = site.serve(f"/{name}", good_page(name))
    with world.client() as client:
        client.rpush("crawler_queue", url)
    return lambda: any(line["url"] == url for line in logged(world, "article_stored"))


def set_(world: World, **settings: str) -> None:
    with world.client() as client:
        for name, value in settings.items():
            client.config_set(name.replace("_", "-"), value)


def lock_out(world: World) -> None:
    with world.client() as client:
        client.config_set("requirepass", "other")
        client.client_kill_filter(_type="normal", skipme=False)


def let_in(world: World) -> None:
    assert world.url is not None
    with redis.Redis.from_url(world.url, password="other") as client:
        client.config_set("requirepass", "")


def follow(world: World, *primary: str) -> None:
    with world.client() as client:
        client.replicaof(*primary)


Step = Callable[[World, Server], object]
TROUBLES: list[tuple[str, Step, Step]] = [
    ("unreachable", lambda _, server: server.kill(), lambda _, server: server.start()),
    ("timeout", lambda _, server: server.freeze(), lambda _, server: server.thaw()),
    ("out_of_memory", lambda world, _: set_(world, maxmemory="1"), lambda world, _: set_(world, maxmemory="0")),
    ("read_only", lambda world, _: follow(world, "127.0.0.1", "1"), lambda world, _: follow(world, "NO", "ONE")),
    (
        "replicas",
        lambda world, _: set_(world, min_replicas_to_write="1"),
        lambda world, _: set_(world, min_replicas_to_write="0"),
    ),
    ("auth", lambda world, _: lock_out(world), lambda world, _: let_in(world)),
    ("disk", lambda _, server: server.deny_disk(), lambda _, server: server.allow_disk()),
    ("no_aof", lambda world, _: set_(world, appendonly="no"), lambda world, _: set_(world, appendonly="yes")),
    (
        "evicts",
        lambda world, _: set_(world, maxmemory_policy="allkeys-lru"),
        lambda world, _: set_(world, maxmemory_policy="noeviction"),
    ),
]


@pytest.mark.timeout(240)
def test_a_crawl_pauses_with_a_reason_and_continues(world: World, server: Server) -> None:
    site = world.origin.site("site.test")
    feed = site.serve("/feed", document(rss([entry(site, "first")]), content_type="application/rss+xml"))
    site.serve("/first", good_page("first"))
    worker = world.start(f"feeds={feed}", "forever=1", command=("-c", WATCHFUL))
    world.until(fetched(world, site, "before"))
    took = {}
    for number, (reason, harm, mend) in enumerate(TROUBLES, 1):
        harm(world, server)
        world.until(
            lambda wanted=reason: (
                logged(world, "store_away")[-1:] and logged(world, "store_away")[-1]["reason"] == wanted
            )
        )
        requested = len(world.origin.ledger.requests)
        mend(world, server)
        mended = time.monotonic()
        world.until(lambda wanted=number: len(logged(world, "store_back")) == wanted, timeout_sec=BACK_SEC)
        took[reason] = time.monotonic() - mended
        world.until(fetched(world, site, f"after-{number}"))
        assert requested <= len(world.origin.ledger.requests) - 1
    assert [line["reason"] for line in logged(world, "store_back")] == [reason for reason, _, _ in TROUBLES]
    assert max(took.values()) < BACK_SEC, took
    worker.send_signal(signal.SIGTERM)
    assert world.exit_of(worker) == 0, world.logs()[-3000:]
    pages = [request.target for request in world.origin.ledger.requests if request.target.startswith("/after")]
    assert sorted(pages) == sorted(f"/after-{number}" for number in range(1, len(TROUBLES) + 1))


def test_a_server_that_stays_away_ends_the_crawl(world: World, server: Server) -> None:
    feed = world.origin.site("site.test").serve("/feed", document(rss([]), content_type="application/rss+xml"))
    worker = world.start(f"feeds={feed}", "forever=1", FEEDCRAWL_REDIS_OUTAGE_SEC="2")
    world.until(lambda: logged(world, "feed_polled"))
    server.kill()
    assert world.exit_of(worker) == 1, world.logs()[-3000:]
    server.start()


@pytest.mark.parametrize("ends", ["well", "in time"])
def test_a_crawl_waits_with_its_first_steps_too(world: World, ends: str) -> None:
    site = world.origin.site("site.test")
    feed = site.serve("/feed", document(rss([entry(site, "page")]), content_type="application/rss+xml"))
    url = site.serve("/page", good_page("page"))
    world.crawl("before")
    set_(world, maxmemory="1")
    limit = {"FEEDCRAWL_REDIS_OUTAGE_SEC": "2"} if ends == "in time" else {}
    worker = world.start(f"feeds={feed}", **limit)
    world.until(lambda: logged(world, "store_away"))
    if ends == "well":
        set_(world, maxmemory="0")
    assert world.exit_of(worker) == (0 if ends == "well" else 1), world.logs()[-3000:]
    assert '"level": "critical"' not in world.logs()
    assert "Traceback" not in world.logs()
    set_(world, maxmemory="0")
    with world.client() as client:
        assert article(client, url).get("status") == ("success" if ends == "well" else None)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("forever", [True, False])
def test_an_emptied_server_ends_the_crawl_and_is_refused_until_its_restore(world: World, forever: bool) -> None:
    site = world.origin.site("site.test")
    entries = [entry(site, f"p{number}") for number in range(20)]
    for number in range(20):
        site.serve(f"/p{number}", good_page(f"p{number}"))
    feed = site.serve("/feed", document(rss(entries), content_type="application/rss+xml"))
    arguments = [f"feeds={feed}", *(["forever=1"] if forever else [])]
    settings = {"FEEDCRAWL_HOST_DELAY_SEC": "0.4"}
    worker = world.start(*arguments, command=("-c", WATCHFUL), **settings)
    world.until((world.data / "subscriptions.ndjson").exists)
    stored_before = len(logged(world, "article_stored"))
    world.until(lambda: len(logged(world, "article_stored")) > stored_before)
    with world.client() as client:
        world.until(lambda: not client.zcard("fc:{0}:leases"))  # between two tasks: each stored article has ended
        client.flushall()
    assert world.exit_of(worker) == 1, world.logs()[-3000:]
    assert logged(world, "store_away")[-1]["reason"] == "emptied"
    stored = {line["uid"] for line in world.lines("articles")}
    assert stored
    refused = world.crawl("refused", code=1)
    assert "has lost its data" in refused.err
    restored = run_scrapy("restore", data_dir=world.data, env=world.env)
    there_again = [
        f"1 feeds, 0 sitemaps and {number} articles are there again\n" for number in range(1, len(stored) + 1)
    ]
    assert (restored.code, restored.out in there_again) == (0, True), restored.out  # one may be there by itself
    world.crawl("after", FEEDCRAWL_HOST_DELAY_SEC="0.01")
    requested = [target for target in world.paths("after", "site.test") if target.startswith("/p")]
    assert len(requested) == len(set(requested)) == 20 - len(stored)
    uids = [line["uid"] for line in world.lines("articles")]
    assert len(uids) == len(set(uids)) == 20


def full_disk(world: World) -> tuple[Path, list[str]]:
    site = world.origin.site("site.test")
    urls = [site.serve(f"/p{number}", good_page(f"p{number}")) for number in range(6)]
    entries = [entry(site, f"p{number}") for number in range(6)]
    world.feeds_file(site.serve("/feed", document(rss(entries), content_type="application/rss+xml", etag='"1"')))
    return world.folder / "full", urls


@pytest.mark.timeout(90)
@pytest.mark.parametrize("when", ["start", "middle"])
def test_a_full_disk_is_waited_for_and_leaves_no_half_record(world: World, when: str) -> None:
    flag, urls = full_disk(world)
    if when == "start":
        flag.touch()
    worker = world.start(
        f"feeds={world.folder / 'feeds.txt'}", command=("-c", FULL, str(flag)), FEEDCRAWL_HOST_DELAY_SEC="0.3"
    )
    if when == "middle":
        world.until(lambda: world.lines("articles"))
        flag.touch()
    world.until(lambda: logged(world, "disk_away"))
    assert logged(world, "disk_away")[0]["reason"] == "disk_full"
    tries = flag.with_name(f"{flag.name}.tries")
    requested, tried = len(world.origin.ledger.requests), tries.stat().st_size
    world.until(lambda: tries.stat().st_size >= tried + 3)
    assert len(world.origin.ledger.requests) <= requested + 1  # it pauses, and does not ask publishers in vain
    flag.unlink()
    world.until(lambda: logged(world, "disk_back"), timeout_sec=BACK_SEC)
    assert world.exit_of(worker) == 0, world.logs()[-3000:]
    with world.client() as client:
        assert {article(client, url)["status"] for url in urls} == {"success"}
    for path in (world.data / "articles").glob("*"):
        assert len([json.loads(line) for line in path.read_text().splitlines()]) == len(urls)
    for path in world.data.glob("raw/*/*.warc.gz"):
        with path.open("rb") as stream:
            kinds = [record.rec_type for record in ArchiveIterator(stream)]
        assert kinds.count("response") == kinds.count("request")
    assert not list(world.data.rglob("*.tmp"))


def test_a_disk_that_stays_full_ends_the_crawl(world: World) -> None:
    flag, _ = full_disk(world)
    flag.touch()
    worker = world.start(
        f"feeds={world.folder / 'feeds.txt'}", command=("-c", FULL, str(flag)), FEEDCRAWL_REDIS_OUTAGE_SEC="3"
    )
    assert world.exit_of(worker) == 1, world.logs()[-3000:]
    assert logged(world, "crawl_finished")[-1]["reason"] == "disk_away"
    assert world.lines("articles") == world.lines("entries") == []
