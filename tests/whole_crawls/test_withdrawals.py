"""What publishers withdraw: entries of complete feeds (RFC 5005 section 2), pages that answer 410 or redirect home."""

from dataclasses import replace
from pathlib import Path

from documents import Item, rss
from origin import Answer, document, failure, redirect
from world import article, entry, events, feed, good_page, world_in

COMPLETE = '<fh:complete xmlns:fh="http://purl.org/syndication/history/1.0"/>'


def complete(*entries: Item) -> Answer:
    return document(rss(entries, head=COMPLETE), content_type="application/rss+xml")


def test_a_complete_feed_deletes_missing_entries_and_keeps_their_articles(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world, world.client() as client:
        site = world.origin.site("site.test")
        a, b, c = (entry(site, name, hour=hour) for hour, name in enumerate("abc"))
        for name in "abc":
            site.serve(f"/{name}", good_page(name))
        whole, less, empty = complete(a, b, c), complete(a, c), complete()
        cut = document(whole.body[: whole.body.rindex(b"<item>") + 20], content_type="application/rss+xml")
        url = site.serve("/feed", whole, cut, less, empty, complete(c, a), whole)
        windowed = site.serve("/window", feed([replace(b, guid="w")], etag=None), feed([], etag=None))
        world.crawl("whole", f"feeds={url},{windowed}")
        assert events(client, "entry_deleted") == []
        world.crawl("cut", "now=1")  # a truncated document deletes nothing
        assert events(client, "entry_deleted") == []
        world.crawl("less", "now=1")
        (gone,) = events(client, "entry_deleted")
        assert (gone["entry_uid"], gone["event"].rpartition(":")[2]) == ("id-b", "2")
        (marked,) = events(client, "article_deleted")
        assert (marked["uid"], marked["why"]) == (gone["article_uid"], "entry_deleted")
        stored = article(client, site.url("/b"))
        assert (stored["status"], stored["deleted_why"], bool(stored["clean_text"])) == (
            "success",
            "entry_deleted",
            True,
        )
        assert "deleted_at" not in article(client, site.url("/a"))
        world.crawl("empty", "now=1")  # an empty document deletes nothing
        world.crawl("ordered", "now=1")
        assert len(events(client, "entry_deleted")) == 1
        with world.wired() as wired:
            (found,) = (each for each in wired.registry.all() if each.subscription.url == url)
            lines = wired.registry.journal(found.id)
        assert [line.get("deleted", 0) for line in reversed(lines)] == [0, 0, 1, 0, 0]
        world.crawl("back", "now=1")
        assert [each["entry_uid"] for each in events(client, "entry_updated")] == ["id-b"]


def test_an_article_whose_page_is_gone_is_marked(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world, world.client() as client:
        site = world.origin.site("site.test")
        site.serve("/a", good_page("a"), failure(410))
        site.serve("/b", good_page("b"), failure(404))
        for name in "ab":
            client.rpush("crawler_queue", site.url(f"/{name}"))
        world.crawl("first", spider="articles")
        for name in "ab":
            client.rpush("crawler_queue", f'{{"url":"{site.url(f"/{name}")}","again":true}}')
        world.crawl("again", spider="articles")
        assert [(each["canonical_url"], each["why"]) for each in events(client, "article_deleted")] == [
            (site.url("/a"), "http_410")
        ]
        assert (article(client, site.url("/a"))["status"], "deleted_at" in article(client, site.url("/b"))) == (
            "success", False,
        )  # fmt: skip


def test_the_front_page_is_no_version_of_a_removed_article(tmp_path: Path) -> None:
    """It is neither stored as one, nor merged into the front page that another link has brought."""
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world, world.client() as client:
        site, front = world.origin.site("site.test"), world.origin.site("www.site.test")
        home = front.serve("/", good_page("us"))
        kept, removed = site.serve("/kept", good_page("kept"), redirect(home)), site.serve("/removed", redirect(home))
        here = front.serve("/here", redirect("/", 302))
        linked = world.origin.site("short.test").serve("/s", redirect(home))
        for url in (removed, here, kept):
            client.rpush("crawler_queue", url)
        world.crawl("removed", spider="articles")
        assert article(client, home) == {}
        client.rpush("crawler_queue", linked)
        world.crawl("linked", spider="articles")
        assert article(client, home)["title"] == "About us"
        for url in (removed, here, kept):
            client.rpush("crawler_queue", f'{{"url":"{url}","again":true}}')
        client.rpush("crawler_queue", site.serve("/late", redirect(home)), front.serve("/later", redirect("/", 302)))
        world.crawl("again", spider="articles")
        refused = {each["url"]: each["failure_detail"] for each in events(client, "article_failed")}
        assert {removed, here, kept, site.url("/late"), front.url("/later")} == refused.keys()
        assert {detail.partition(":")[0] for detail in refused.values()} == {"front_page"}
        assert (article(client, kept)["status"], article(client, kept)["title"]) == ("success", "About kept")
        assert article(client, home)["status"] == "success"
