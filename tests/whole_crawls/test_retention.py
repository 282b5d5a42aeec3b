"""A crawl removes what is too old while it works, and nothing of what it has just brought."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from world import World, entry, feed, good_page, world_in

from feedcrawl.store.disk.ndjson import NdjsonFile


def retentions(world: World, name: str) -> list[dict[str, object]]:
    lines = (json.loads(line) for line in world.runs[name].err.splitlines() if line.startswith("{"))
    return [line for line in lines if line["event"] == "retention"]


def test_a_crawl_removes_files_that_are_too_old(tmp_path: Path) -> None:
    settings = {f"FEEDCRAWL_KEEP_{kind}_DAYS": "2" for kind in ("RAW", "ARTICLES", "ENTRIES")}
    with world_in(tmp_path) as world:
        site = world.origin.site("news.test")
        site.serve("/a", good_page("a"))
        url = site.serve("/feed", feed([entry(site, "a")]))
        long_ago = datetime.now(UTC).date() - timedelta(days=9)
        NdjsonFile(world.data / "articles").append(long_ago, {"uid": "old"})
        old = world.data / "raw" / f"{long_ago}" / "x.warc.gz"
        old.parent.mkdir(parents=True)
        old.write_bytes(b"without an index")
        world.crawl("first", world.feeds_file(f"{url} news\n"), **settings)
        world.crawl("second", **settings)
        assert not old.parent.exists()
        assert [record["title"] for record in world.lines("articles")] == ["About a"]
        assert len(list(world.data.glob("raw/*/*.warc.gz"))) >= 1
        (removed,) = retentions(world, "first")
        assert (removed["days"], removed["files"]) == (1, 1)
        assert retentions(world, "second") == []  # once a day
