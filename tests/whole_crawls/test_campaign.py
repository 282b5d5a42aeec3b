"""Kills at every step and at any moment: work is repeated, and none is lost and none stored twice.

FEEDCRAWL_TEST_KILLS is how often a worker is killed at random (default 2); `benchmarks/kills.py` does it for hours.
"""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from campaign import EDITED, LEASE_SEC, NAMED, SETTINGS, Account, Campaign
from documents import paragraphs
from world import article, events, world_in

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("FEEDCRAWL_TEST_KILLS", "2"))


@pytest.mark.timeout(300 + 10 * KILLS)
def test_killed_workers_lose_nothing(tmp_path: Path) -> None:
    def campaign(kind: str) -> None:
        folder = tmp_path / kind
        folder.mkdir()
        with world_in(folder, embedded=True, **SETTINGS) as world:
            done = Campaign(world)
            for each, step in NAMED:
                if each == kind:
                    done.at_step(kind, step)
            for _ in range(KILLS):
                done.at_random()
            done.group_ended()
            done.rest()
            assert done.account() == Account(articles=len(done.urls), lost=0, stored_twice=0, leases_left=0)

    with ThreadPoolExecutor() as executor:
        list(executor.map(campaign, ("poll", "article")))


ASLEEP = [
    *(("poll", step) for step in ("claimed", "parsed", "half_queued")),
    *(("article", step) for step in ("connected", "deduped", "queued", "published")),
]
"""A worker sleeps at each of these, and wakes when its work has been done by others."""


@pytest.mark.timeout(300)
def test_a_worker_that_sleeps_beyond_its_lease_writes_nothing_stale(tmp_path: Path) -> None:
    with world_in(tmp_path, **SETTINGS) as world:
        campaign = Campaign(world)
        workers = []
        for kind, step in ASLEEP:
            workers.append(campaign.asleep(kind, step))
            campaign.edit()
        world.leases_expire()
        world.crawl("others")
        for worker in workers:
            worker.send_signal(signal.SIGCONT)
        time.sleep(LEASE_SEC)  # they go on with what they had in hand
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        assert [worker.wait(timeout=40) for worker in workers] == [0] * len(workers), world.logs()[-6000:]
        campaign.rest()
        assert replace(campaign.account(), stored_twice=0) == Account(len(campaign.urls), 0, 0, 0)
        with world.client() as client:
            texts = {url: article(client, url)["clean_text"] for url in campaign.urls}
            announced = [*events(client, "article_ready"), *events(client, "article_updated")]
            hashes = {event["url"]: event["content_hash"] for event in announced}
            assert hashes == {url: article(client, url)["content_hash"] for url in campaign.urls}
        lines = world.lines("articles")
        assert {line["url"]: line["clean_text"] for line in lines} == texts
        edited = {url: paragraphs(f"{EDITED} {urlsplit(url).path}", count=1)[0] for url in campaign.urls}
        for url in campaign.urls:
            versions = [edited[url] in line["clean_text"] for line in lines if line["url"] == url]
            assert versions == sorted(versions), url  # no old one after the new
        assert sum(edited[url] in texts[url] for url in campaign.urls) >= len(ASLEEP)
