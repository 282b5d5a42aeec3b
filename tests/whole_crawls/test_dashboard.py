"""What a crawl leaves for the dashboard: counts of what its polls and pages came to, and the pages that show them."""

from pathlib import Path

import httpx
from api import free_port, serving
from origin import document
from world import entry, feed, good_page, world_in

from feedcrawl.domain.articles.query import ArticleFilter
from feedcrawl.domain.operations.counters import SPANS, bars, errors, total


def test_results_of_a_crawl_are_counted_once_and_shown(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        site = world.origin.site("news.test")
        site.serve("/one", good_page("one"))
        site.serve("/two", good_page("two"))
        good = site.serve("/feed", feed([entry(site, name) for name in ("one", "two", "gone")]))
        bad = site.serve("/broken", document("no feed at all", content_type="text/plain"))
        for run in ("first", "second"):
            world.crawl(run, world.feeds_file(f"{good} news\n{bad}\n"), "now=1")
        with world.wired() as wired:
            now = wired.now().timestamp()
            whole = total(bars(wired.series.slots(now - 3600, now), SPANS["6h"], now))
            assert dict(whole.of("poll")) == {"fetched": 1, "not_modified": 1, "text": 2}
            assert dict(whole.of("article")) == {"stored": 2, "http_404": 1}
            assert whole.counts["new"] == 3
            assert whole.counts["saved"] > 500
            assert errors(whole) == [("text", 2, 0), ("http_404", 0, 1)]
            (feed_id,) = [each.id for each in wired.registry.all() if each.subscription.url == good]
            assert wired.series.most_news(now - 3600, now, 5) == [(feed_id, 3)]
            assert wired.series.most_failures(now - 3600, now, 5) == [("news.test", 3)]
            assert wired.registry.failing_count() == 1
            with serving(wired, free_port()) as url:
                page = httpx.get(f"{url}/dashboard/feeds/{feed_id}", timeout=60).text
                assert all(f"About {name}" in page for name in ("one", "two", "gone"))
                uid = wired.catalogue.page(ArticleFilter(), wired.now()).articles[0]["uid"]
                assert "What was stored of it" in httpx.get(f"{url}/dashboard/articles/{uid}", timeout=60).text
                assert "http_404" in httpx.get(f"{url}/dashboard/dlq", timeout=60).text
