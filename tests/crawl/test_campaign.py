"""Kills at every step and at any moment: work is repeated, and none is lost and none stored twice.

FEEDCRAWL_TEST_KILLS is how often a worker is killed at random (default 2); `benchmarks/campaign.py` does it for hours.
"""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from campaign import NAMED, SETTINGS, Account, Campaign
from world import world_in

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
            done.rest()
            assert done.account() == Account(articles=len(done.urls), lost=0, stored_twice=0, leases_left=0)

    with ThreadPoolExecutor() as both:
        list(both.map(campaign, ("poll", "article")))


ASLEEP = [
    *(("poll", step) for step in ("claimed", "read", "parsed", "on_disk", "half_queued", "published")),
    *(
        ("article", step)
        for step in ("connected", "read", "parsed", "deduped", "on_disk", "half_published", "published")
    ),
]


@pytest.mark.timeout(300)
def test_a_worker_that_sleeps_through_its_lease_writes_nothing_stale(tmp_path: Path) -> None:
    with world_in(tmp_path, embedded=True, **SETTINGS) as world:
        campaign = Campaign(world)
        workers = [campaign.asleep(kind, step) for kind, step in ASLEEP]
        for url in campaign.urls:  # all pages are edited meanwhile; none of the sleepers has stored one
            campaign.edit(url)
        campaign.rest()
        for worker in workers:
            worker.send_signal(signal.SIGCONT)
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        assert [worker.wait(timeout=40) for worker in workers] == [0] * len(workers), world.logs()
