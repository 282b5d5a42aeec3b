"""The crawler's own network fails: nobody is blamed, nothing is lost, and it goes on by itself."""

from pathlib import Path

import pytest
from documents import rss
from origin import document, failure
from world import entry, good_page, world_in


@pytest.mark.parametrize(("hosts", "before_known"), [(14, 10), (3, 3)])
def test_an_outage_of_our_own_network_is_blamed_on_no_host(tmp_path: Path, hosts: int, before_known: int) -> None:
    with world_in(tmp_path) as world, world.client() as client:
        sites = [world.origin.site(f"site-{number}.test") for number in range(hosts)]
        feeds = [
            site.serve("/feed", document(rss([entry(site, "p")]), content_type="application/rss+xml")) for site in sites
        ]
        for site in sites:
            site.serve("/p", good_page(site.name))
        argument = world.feeds_file("\n".join(feeds))
        world.crawl("before", argument)
        for site in sites:
            world.origin.down(site)
        world.crawl("away", argument, "now=1")
        assert len(world.logged("away", "own_outage")) == 1
        with world.wired() as wired:
            away = list(wired.registry.all())
            states = [wired.frontier.host(site.name) for site in sites]
            skipped = [line for feed in away for line in wired.registry.journal(feed.id) if line["result"] == "skipped"]
        assert {line["reason"] for line in skipped} == {"own_outage"}
        assert {host.circuit for host in states} == {"closed"}
        assert sum(host.failures for host in states) == 0
        assert sum(feed.polls.last_result == "refused" for feed in away) < before_known
        for site in sites:
            world.origin.up(site)
        world.crawl("back", argument, "now=1")
        with world.wired() as wired:
            found = list(wired.registry.all())
        assert [feed.polls.last_result for feed in found] == ["unchanged"] * hosts
        assert client.llen("page_fetcher_dlq") == 0


def test_feeds_of_a_host_that_was_away_are_polled_with_its_first_response(tmp_path: Path) -> None:
    """Not at the end of their back-off, which may be a day."""
    hasty = {"FEEDCRAWL_MIN_INTERVAL_SEC": "1", "FEEDCRAWL_INITIAL_INTERVAL_SEC": "1", "FEEDCRAWL_JITTER_RATIO": "0"}
    with world_in(tmp_path, **hasty, FEEDCRAWL_BACKOFF_BASE="2000", FEEDCRAWL_LINGER_SEC="1") as world:
        site = world.origin.site("site.test")
        well = document(rss([]), content_type="application/rss+xml")
        feeds = [site.serve(f"/{number}", failure(500)) for number in range(4)]
        world.crawl("away", world.feeds_file("\n".join(feeds)))
        first, *others = world.paths("away", "site.test")
        assert {first, *others} == {"/0", "/1", "/2", "/3"}
        for number in range(4):
            site.serve(f"/{number}", well)
        world.crawl("nobody")
        assert world.paths("nobody", "site.test") == []
        world.crawl("back", "feeds=" + site.serve("/new", well))
        requested = world.paths("back", "site.test")
        assert requested[0] == "/new"
        assert set(others) == set(requested) - {"/new", first}  # the first had failed alone, as far as one could tell
