"""Pages without text: when the feed's own text is the article."""

from pathlib import Path

from documents import paragraphs
from origin import html
from world import article, entry, feed, world_in

SHELL = "<html><title>A</title><body><div id=root></div><script src=/app.js></script>" + " " * 300


def test_a_summary_is_the_article_of_an_empty_page_only_where_the_feed_is_trusted(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        feeds = []
        for name in ("trusted", "other"):
            site = world.origin.site(f"{name}.test")
            site.serve("/a", html(SHELL))
            feeds.append(site.serve("/feed", feed([entry(site, "a", summary=" ".join(paragraphs(name, count=3)))])))
        (tmp_path / "sources.yaml").write_text(
            f"- {{name: t, base_url: 'http://trusted.test/', feed_url: '{feeds[0]}', full_text: true}}\n"
        )
        world.crawl("first", f"feeds={feeds[1]}", FEEDCRAWL_SOURCES=str(tmp_path / "sources.yaml"))
        with world.client() as client:
            trusted = article(client, world.origin.site("trusted.test").url("/a"))
            other = article(client, world.origin.site("other.test").url("/a"))
        assert (trusted["status"], trusted["extractor"]) == ("success", "feed")
        assert "rendered" not in trusted
        assert (other["status"], other["failure"]) == ("failure", "FAIL_EMPTY")
        (summary,) = world.logged("first", "crawl_finished")
        assert (summary["articles_stored"], summary["articles_failed"]) == (1, 1)
