"""Kills of all kinds under a crawl, and the articles that it kept: lost and stored twice must both be 0.

    python benchmarks/kills.py [--kills 200] [--articles 20000] [--seed 4]

Each round subscribes a site of its own on a local origin and makes one fault: a worker killed (SIGKILL) at a step of
the way of a poll or an article, or at any moment; two workers one after the other; the server under a worker; a worker
that sleeps through its lease (SIGSTOP), wakes and dies; one ended by SIGTERM. Leases last two seconds, so that
the next worker takes over the tasks of the last one. When no task is left, each feed is polled once more, and
every page that was served is looked for in the frontier, in Redis, on the disk and among the events.
`tests/whole_crawls/test_campaign.py` does the same at every step once.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "site"))

from campaign import SETTINGS, Campaign
from world import world_in

ROUNDS = {
    Campaign.any_step: 8,
    Campaign.at_random: 4,
    Campaign.pair_killed: 3,
    Campaign.server_killed: 2,
    Campaign.woken: 2,
    Campaign.drained: 1,
    Campaign.group_ended: 1,
}
"""Faults and how often each comes."""
BACKLOG_SITES = 8
"""After so many sites all is worked off: a new site's first article would come too late for its fault otherwise."""
WORK_SEC = 3600.0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--articles", type=int, default=20_000)
    options.add_argument("--seed", type=int, default=4)
    options.add_argument("--folder", type=Path, help="an empty one that stays, with data and logs, where one is named")
    given = options.parse_args()
    began, chance = time.monotonic(), random.Random(given.seed)
    with (
        tempfile.TemporaryDirectory() as passing,
        world_in(given.folder or Path(passing), embedded=True, **SETTINGS) as world,
    ):
        campaign, worked = Campaign(world, chance=chance), 0
        while campaign.kills < given.kills:
            left = given.kills - campaign.kills
            campaign.pages = max(1, round((given.articles - len(campaign.urls)) / left))
            chance.choices(list(ROUNDS), list(ROUNDS.values()))[0](campaign)
            if campaign.sites >= worked + BACKLOG_SITES or campaign.kills >= given.kills:
                campaign.worked_off(WORK_SEC)
                worked = campaign.sites
                print(
                    f"{campaign.kills} kills, {len(campaign.urls)} pages, {time.monotonic() - began:.0f} s", flush=True
                )
        campaign.rest()
        account = campaign.account()
    for name, count in sorted(campaign.faults.items()):
        print(f"{count:6} {name}")
    print(account)
    print(f"{campaign.kills} kills in {time.monotonic() - began:.0f} s")
    return int((account.lost, account.stored_twice, account.leases_left) != (0, 0, 0))


if __name__ == "__main__":
    sys.exit(main())
