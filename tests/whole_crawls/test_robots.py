"""robots.txt, and what it redirects to, are requests like any other: each in a turn of its host."""

import gzip
import threading
from pathlib import Path
from random import Random

import pytest
from origin import document, redirect
from scrapy_process import run_scrapy
from world import World, article, entry, feed, good_page, world_in

DELAY_SEC = 0.25
ALLOWED = document("User-agent: *\nDisallow: /private\n", content_type="text/plain", wait_sec=0.05)


def redirecting_sites(world: World) -> list[str]:
    """Sites with pages, whose robots.txt lead to each other and in a circle; the URLs of the pages."""
    a, b, c, d = (world.origin.site(f"{name}.test") for name in "abcd")
    a.serve("/robots.txt", redirect(b.url("/robots.txt")))
    b.serve("/robots.txt", redirect("/rules", status=302))
    b.serve("/rules", ALLOWED)
    c.serve("/robots.txt", redirect(d.url("/robots.txt")))
    d.serve("/robots.txt", redirect(c.url("/robots.txt")))
    return [site.serve(f"/{number}", good_page(f"{site.name}{number}")) for site in (a, b, c, d) for number in range(3)]


def serve_feed(world: World, pages: list[str]) -> str:
    site = world.origin.site("feeds.test")
    return site.serve("/feed", feed([entry(site, f"e{number}", url) for number, url in enumerate(pages)]))


@pytest.mark.parametrize("workers", [1, 2])
def test_no_request_of_a_host_comes_before_its_turn(tmp_path: Path, workers: int) -> None:
    with world_in(
        tmp_path, FEEDCRAWL_HOST_DELAY_SEC=str(DELAY_SEC), FEEDCRAWL_LINGER_SEC="3", FEEDCRAWL_RENDER="never"
    ) as world:
        pages = redirecting_sites(world)
        feeds = serve_feed(world, pages)
        others = [
            threading.Thread(
                target=run_scrapy,
                args=("crawl", "articles"),
                kwargs={"data_dir": world.data, "env": world.env | {"FEEDCRAWL_LINGER_SEC": "4"}, "timeout_sec": 90},
            )
            for _ in range(workers - 1)
        ]
        for other in others:
            other.start()
        world.crawl("all", f"feeds={feeds}")
        for other in others:
            other.join()
        with world.client() as client:
            assert {article(client, url)["status"] for url in pages} == {"success"}
        ledger = world.origin.ledger
        for host in ("a.test", "b.test", "c.test", "d.test"):
            assert ledger.of(host, robots=True)[0].path in ("/robots.txt", "/rules")
            assert ledger.max_open(host) == 1, host
            assert min(ledger.gaps(host, robots=True)) >= DELAY_SEC * 0.9, (host, ledger.gaps(host, robots=True))


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_of_a_robots_txt_without_an_end_the_first_512_kib_count(tmp_path: Path, coding: str) -> None:
    rules = b"User-agent: *\nDisallow: /closed\n" + b"# nothing that counts\n" * (10 << 20 >> 4)
    body = gzip.compress(rules[:600_000] + Random(1).randbytes(2 << 20)) if coding == "gzip" else rules
    with world_in(tmp_path) as world:
        site = world.origin.site("site.test")
        site.serve("/robots.txt", document(body, content_type="text/plain", headers=(("Content-Encoding", coding),)))
        for name in ("open", "closed"):
            site.serve(f"/{name}", good_page(name))
        entries = [entry(site, name, summary="") for name in ("open", "closed")]
        world.crawl("all", "feeds=" + site.serve("/feed", feed(entries)))
        with world.client() as client:
            assert article(client, site.url("/open"))["status"] == "success"
        assert not world.origin.ledger.of("site.test", "/closed")
        assert len(world.origin.ledger.of("site.test", "/robots.txt")) == 1
