"""A crawl whose way to Redis is spoilt: it waits, gives back, goes on by itself, and mistakes no reply for another."""

import signal
import time
from pathlib import Path

import pytest
from campaign import SETTINGS, Account, Campaign
from redis_process import running_redis
from redis_proxy import Faults, RedisProxy
from world import DELAY_SEC, world_in

WAYS = {
    "slow": Faults(delay_sec=0.3, jitter_sec=0.2),
    "sliced": Faults(slice_bytes=7, jitter_sec=0.0005),
    "cut": Faults(cut=0.2),
    "limited": Faults(limit_bytes=4000),
    "silent": Faults(silent=True),
    "refusing": Faults(refusing=True),
}
SPOILT_SEC = 1.5
RESUMES_SEC = 15.0


@pytest.mark.timeout(180)
def test_a_faulty_connection_to_redis_costs_only_time(tmp_path: Path) -> None:
    with running_redis() as server, RedisProxy(server) as proxy:
        settings = SETTINGS | {"FEEDCRAWL_LEASE_SEC": "6", "REDIS_URL": f"{proxy.url}?socket_timeout=1"}
        with world_in(tmp_path, **settings) as world:
            world.url = server  # what the test itself asks comes unspoilt
            campaign = Campaign(world, pages=60)
            feeds = [campaign.site("site") for _ in range(4)]
            argument = world.feeds_file("".join(f"{feed} kept\n" for feed in feeds))
            workers = [world.start(argument, "forever=1") for _ in range(2)]
            requests = world.origin.ledger.requests
            world.until(lambda: len(requests) > 20)
            for faults in WAYS.values():
                proxy.faults = faults
                proxy.reset()
                time.sleep(SPOILT_SEC)
                proxy.faults, requested = Faults(), len(requests)
                world.until(lambda requested=requested: len(requests) > requested + 4, timeout_sec=RESUMES_SEC)
            world.until(lambda: campaign.account().lost == 0)
            for worker in workers:
                worker.send_signal(signal.SIGTERM)
            codes = [worker.wait(timeout=30) for worker in workers]
            assert set(codes) <= {0, 1}, world.logs()[-6000:]  # 1: what failed here was made good by the other
            assert campaign.account() == Account(len(campaign.urls), lost=0, stored_twice=0, leases_left=0)
            for host in world.origin.ledger.hosts():
                assert world.origin.ledger.max_open(host) == 1, host
                assert min(world.origin.ledger.gaps(host)) > DELAY_SEC * 0.8, host
            assert [line for line in world.logs().splitlines() if "Traceback" in line] == []
