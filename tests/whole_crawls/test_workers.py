"""Several workers on one frontier, and how they leave it: at a signal, in the middle of their work."""

import json
import signal
from collections import Counter
from pathlib import Path

from campaign import SETTINGS, Account, Campaign
from documents import rss
from origin import document
from world import DELAY_SEC, World, article, entry, events, good_page, world_in

from feedcrawl.domain.urls import url_uid
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy

SITES, PAGES = 3, 12


def sites_of(world: World) -> list[str]:
    """Feeds of hosts that take their time; returns the URLs of all pages."""
    urls, feeds = [], []
    for number in range(SITES):
        site = world.origin.site(f"site-{number}.test")
        entries = [entry(site, f"p{number}-{page}") for page in range(PAGES)]
        urls += [site.serve(f"/p{number}-{page}", good_page(f"{number}/{page}", wait_sec=0.1)) for page in range(PAGES)]
        feeds.append(site.serve("/feed", document(rss(entries), content_type="application/rss+xml", etag='"1"')))
    world.feeds_file("".join(f"{feed} shared\n" for feed in feeds))
    return urls


def test_workers_share_the_work_and_leave_in_order(tmp_path: Path) -> None:
    with world_in(tmp_path) as world, world.client() as client:
        urls = sites_of(world)
        argument = f"feeds={world.folder / 'feeds.txt'}"
        workers = [world.start(argument, "forever=1") for _ in range(2)]
        world.until(lambda: len(world.origin.ledger.requests) > SITES * PAGES // 2)
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        assert [worker.wait(timeout=30) for worker in workers] == [0, 0], world.logs()
        frontier = Shard(client, FrontierPolicy())
        assert frontier.counts()["leased"] == 0
        assert frontier.counts()["pending:article"] > 0  # it was in the middle of its work

        world.crawl("rest")
        requested = Counter((request.host, request.path) for request in world.origin.ledger.requests)
        assert {each: times for each, times in requested.items() if times > 1} == {}
        for host in world.origin.ledger.hosts():
            assert world.origin.ledger.max_open(host) == 1
            assert min(world.origin.ledger.gaps(host)) > DELAY_SEC * 0.8
        assert {article(client, url)["status"] for url in urls} == {"success"}
        assert client.smembers("rss:articles_by_category:shared") == {url_uid(url) for url in urls}
        assert len(events(client, "new_entry")) == len(events(client, "article_ready")) == len(urls)
        lines = Counter(line["uid"] for line in world.lines("articles"))
        assert lines == Counter(url_uid(url) for url in urls)
        ended = [json.loads(line) for line in world.logs().splitlines() if '"Spider closed' in line]
        assert [each["event"] for each in ended] == ["Spider closed (shutdown)"] * 2


def test_four_workers_that_come_and_go_stay_polite(tmp_path: Path) -> None:
    """Each worker is killed or terminated in its turn, in the middle of its work, and another starts."""
    with world_in(tmp_path, **SETTINGS) as world:
        campaign = Campaign(world, pages=24)
        feeds = [campaign.site("site") for _ in range(5)]
        for site in world.origin.sites.values():
            site.serve("/robots.txt", document("User-agent: *\nDisallow: /*-0\n", content_type="text/plain"))
        argument = world.feeds_file("".join(f"{feed} kept\n" for feed in feeds))
        workers = [world.start(argument, "forever=1") for _ in range(4)]
        ledger = world.origin.ledger

        def working(workers: int) -> bool:  # until then a signal ends a process before it has anything to put in order
            return world.logs().count('"Spider opened"') >= workers

        world.until(lambda: working(4), timeout_sec=90)
        for number, end in enumerate((signal.SIGKILL, signal.SIGTERM) * 3):
            requested = len(ledger.requests)
            world.until(lambda requested=requested: len(ledger.requests) >= requested + 10)
            world.until(lambda oldest=number + 1: working(oldest))
            leaving = workers.pop(0)
            leaving.send_signal(end)
            assert leaving.wait(timeout=30) == (0 if end is signal.SIGTERM else -end), number
            workers.append(world.start("forever=1"))
        served = len(campaign.urls)
        campaign.urls = [url for url in campaign.urls if not url.endswith("-0")]
        world.until(lambda: campaign.account().lost == 0)
        world.until(lambda: working(10))
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        assert [worker.wait(timeout=30) for worker in workers] == [0] * 4, world.logs()[-6000:]
        assert campaign.account() == Account(len(campaign.urls), lost=0, stored_twice=0, leases_left=0)
        assert served == len(campaign.urls) + len(feeds)
        for host in ledger.hosts():
            assert ledger.max_open(host) == 1, host
            assert min(ledger.gaps(host)) > DELAY_SEC * 0.8, host
            assert not [request.path for request in ledger.of(host) if request.path.endswith("-0")], host
            assert len(ledger.of(host, "/robots.txt", robots=True)) <= 2, host
