"""What a crawl stores is found when it has ended, and while the embedded server is off."""

import json
from pathlib import Path

from documents import FIRST_DAY, page
from origin import html
from scrapy_process import run_scrapy
from world import entry, feed, world_in

TEXTS = {
    "bridge": (
        "The old bridge",
        "The council closed the old bridge over the river on Monday. <i>Traffic</i> now goes by ferry.",
    ),
    "ferry": (
        "A new ferry",
        "A second ferry crosses the river from Tuesday on, since the bridge stays closed for the summer.",
    ),
    "tokyo": (
        "東京の橋",
        "東京都は月曜日に古い橋を閉鎖した。川を渡る人々は渡し船を使っている。市民は夏まで待つことになる。",
    ),
}


def test_a_crawl_leaves_a_complete_index(tmp_path: Path) -> None:
    with world_in(tmp_path, embedded=True) as world:
        site = world.origin.site("news.test")
        for name, (title, text) in TEXTS.items():
            paragraphs = [text, *(f"{text} {number}" for number in range(5))]
            site.serve(f"/{name}", html(page(title, paragraphs, published=FIRST_DAY)))
        site.serve("/feed", feed([entry(site, name) for name in TEXTS]))
        world.crawl("first", f"feeds={site.url('/feed')}", "category=news")

        def search(*words: str, code: int = 0, err: str = "") -> list[str]:
            found = run_scrapy("search", *words, data_dir=world.data, env=world.env, timeout_sec=60)
            assert (found.code, found.err) == (code, err)
            return found.out.splitlines()

        found = [json.loads(line) for line in search("closed bridge", "--format", "json", "--category", "news")]
        assert {each["title"] for each in found} == {"The old bridge", "A new ferry"}
        assert all("<mark>" in each["highlights"]["text"] for each in found)
        assert search("東京")[0] == search("渡し船")[0] == "東京の橋"
        assert search('"ferry crosses" -council')[:2] == [
            "A new ferry",
            f"  2026-11-01  {site.url('/ferry')}".replace("2026-11-01", f"{FIRST_DAY:%F}"),
        ]
        assert search("submarine", code=1, err="scrapy search: no article matches\n") == []
        status = run_scrapy("index", "--status", data_dir=world.data, env=world.env, timeout_sec=60)
        assert json.loads(status.out) == {"documents": 3}
        world.crawl("again", f"feeds={site.url('/feed')}", "now=1")
        assert not world.logged("again", "index_build")
