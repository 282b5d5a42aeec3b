"""A run that polls at once polls no feed twice."""

from pathlib import Path

from documents import rss
from origin import document
from world import world_in

FEEDS = 6


def test_a_due_feed_is_polled_once_in_a_run_that_polls_at_once(tmp_path: Path) -> None:
    hasty = {"FEEDCRAWL_MIN_INTERVAL_SEC": "1", "FEEDCRAWL_INITIAL_INTERVAL_SEC": "1", "FEEDCRAWL_JITTER_RATIO": "0"}
    # Where the first run takes more than a second, it polls a feed twice, and the next poll would be an hour away.
    most = {"FEEDCRAWL_MAX_INTERVAL_SEC": "2"}
    with world_in(tmp_path, **hasty) as world:
        site = world.origin.site("site.test")
        empty = document(rss([]), content_type="application/rss+xml")
        urls = [site.serve(f"/{number}", empty) for number in range(FEEDS)]
        world.crawl("first", f"feeds={','.join(urls)}", **most)
        with world.wired() as wired:
            due = max(str(feed.polls.next_at) for feed in wired.registry.all())
            world.until(lambda: f"{wired.now():%FT%T}" > due)
        world.crawl("again", f"feeds={','.join(urls)}", "now=1", FEEDCRAWL_MIN_INTERVAL_SEC="3600")
        assert sorted(world.paths("again", "site.test")) == [f"/{number}" for number in range(FEEDS)]
