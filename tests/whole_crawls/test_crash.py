"""What a crawl lives on goes away under it: the server is killed, the disk cannot be written."""

import contextlib
import os
import signal
from pathlib import Path

import redis
from campaign import SETTINGS, Account, Campaign
from documents import rss
from origin import document
from world import World, entry, events, good_page, world_in

PATIENCE = {name: value for name, value in SETTINGS.items() if name != "FEEDCRAWL_MAX_ATTEMPTS"}


def test_a_killed_server_is_waited_for(tmp_path: Path) -> None:
    with world_in(tmp_path, embedded=True, **PATIENCE) as world:
        campaign = Campaign(world, pages=8)
        feeds = [campaign.site("site") for _ in range(4)]
        worker = world.start(world.feeds_file("".join(f"{feed} kept\n" for feed in feeds)))
        servers: set[int] = set()
        for _ in range(2):
            before = len(world.origin.ledger.requests)
            world.until(lambda before=before: len(world.origin.ledger.requests) >= before + 8, starts=8)
            world.until(lambda: servers < (servers | _server_of(world)), starts=8)  # a killed server comes back
            (server,) = _server_of(world) - servers
            servers.add(server)
            os.kill(server, signal.SIGKILL)
        assert world.exit_of(worker) == 0, world.logs()
        assert len(servers) == 2
        assert campaign.account() == Account(articles=32, lost=0, stored_twice=0, leases_left=0)


def _server_of(world: World) -> set[int]:
    """The process of the world's server; nothing while none answers."""
    with contextlib.suppress(redis.RedisError), world.client() as client:
        return {int(client.info("server")["process_id"])}
    return set()


def test_an_unavailable_disk_costs_no_article(tmp_path: Path) -> None:
    with world_in(tmp_path, **PATIENCE) as world:
        site = world.origin.site("site.test")
        page = site.serve("/page", good_page("page"))
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
        campaign = Campaign(world, urls=[page])
        assert campaign.account() == Account(articles=1, lost=0, stored_twice=0, leases_left=0)
