"""A site that changes its content system: the same entries under new ids and links."""

from dataclasses import replace
from pathlib import Path

from scrapy_process import run_scrapy
from world import entry, events, feed, good_page, world_in

NAMES = [f"story-{number}" for number in range(8)]


def test_entries_of_another_system_are_no_news_until_an_operator_confirms(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world, world.client() as client:
        site = world.origin.site("site.test")
        before = [entry(site, name, hour=hour) for hour, name in enumerate(NAMES)]
        after = [
            replace(each, guid=f"https://cms.test/?p={number}", url=site.url(f"/post/{number}.html"))
            for number, each in enumerate(before, 900)
        ]
        for number, name in enumerate(NAMES, 900):
            site.serve(f"/{name}", good_page(name))
            site.serve(f"/post/{number}.html", good_page(name))
        site.serve("/feed", feed(before, etag=None), feed(after, 2, etag=None))
        world.crawl("first", f"feeds={site.url('/feed')}")
        world.crawl("migrated", "now=1")
        assert len(events(client, "new_entry")) == 8
        assert [path for path in world.paths("migrated", "site.test") if path.startswith("/post")] == []
        assert [migrated["known"] for migrated in world.logged("migrated", "feed_migrated")] == [8]
        with world.wired() as wired:
            (found,) = wired.registry.all()
            line = wired.registry.journal(found.id)[0]
        assert (line["known"], line["migrated"], "possibly_missed" in line) == (8, True, False)
        assert found.polls.possibly_missed == 0

        undone = run_scrapy("feeds", "undo-migration", site.url("/feed"), data_dir=world.data, env=world.env)
        assert undone.code == 0, undone.err
        world.crawl("apart", "now=1")
        assert len(events(client, "new_entry")) == 16
        again = run_scrapy("feeds", "undo-migration", site.url("/feed"), data_dir=world.data, env=world.env)
        assert (again.code, "never_migrated" in again.err) == (2, True)
