"""`scrapy crawl site` as a user runs it, with and without a file of sources."""

import time
from collections.abc import Iterator

import pytest
from documents import page, paragraphs
from origin import Origin, document, failure, html
from world import World, article, entry, feed, good_page, world_in

from feedcrawl.domain.urls import url_uid
from feedcrawl.store.sites.sitemaps import Sitemaps
from feedcrawl.store.subscriptions.registry import Registry


def listing(*links: str) -> str:
    return "<html><title>List</title>" + "".join(f'<a href="{link}">more</a> ' for link in links) + "<p>words</p>"


def newsroom(origin: Origin) -> str:
    """Two pages of a listing, a section, articles, and what is none."""
    site, other = origin.site("room.test"), origin.site("other.test")
    site.serve("/robots.txt", document("User-agent: *\nDisallow: /closed/\n", content_type="text/plain"))
    for number in range(4):
        site.serve(f"/2026/11/28/story-{number}", good_page(f"story {number}"))
    other.serve("/2026/11/28/elsewhere", good_page("elsewhere"))
    stories = [f"/2026/11/28/story-{number}" for number in range(4)]
    outside = other.url("/2026/11/28/elsewhere")
    site.serve("/", html(listing(stories[0], "/page/2", "/section", "/login", "/closed/list", outside, other.url("/"))))
    site.serve("/page/2", html(listing(stories[1], "/", "/page/2", stories[0] + "#top", "/page/3")))
    site.serve("/page/3", html(listing(stories[3])))
    site.serve("/section", html(listing(stories[2] + "?utm_source=x", "/broken")))
    site.serve("/broken", failure(404))
    return site.url("/")


def shop(origin: Origin) -> str:
    """A source with settings of its own: its feed, its patterns, its selectors, and a slash that tells pages apart."""
    site = origin.site("shop.test")
    for path in ("/item/1", "/item/1/", "/item/2"):
        body = f'<div class="own">{"".join(f"<p>{text}</p>" for text in paragraphs(f"item {path}"))}</div>'
        site.serve(
            path, html(page(f"About {path}", [f"Wrong words {path}. " * 40]).replace("<article", body + "<article"))
        )
    site.serve("/feed", feed([entry(site, "one", site.url("/item/1"))]))
    site.serve("/sitemap.xml", document(f"<urlset><url><loc>{site.url('/item/2')}</loc></url></urlset>"))
    site.serve("/all", html(listing("/item/1", "/item/1/", "/2026/11/28/no-article-of-this-source", "/list/2")))
    return f"""
- name: shop
  base_url: {site.url("/all")}
  feed_url: {site.url("/feed")}
  sitemap_url: {site.url("/sitemap.xml")}
  ingestion_mode: both
  category: goods
  priority: 9
  delay_sec: 0.2
  spider_interval_sec: 7200
  min_interval_sec: 1200
  article_url_patterns: '/item/'
  listing_url_patterns: '/list/'
  selectors: {{body: div.own}}
  trailing_slash: keep
"""


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_in(tmp_path_factory.mktemp("site")) as world:
        base = newsroom(world.origin)
        world.crawl("first", f"url={base}", spider="site")
        world.crawl("second", f"url={base}", spider="site")
        world.crawl("shallow", f"url={base}", "depth=0", spider="site")
        (world.folder / "sources.yaml").write_text(shop(world.origin))
        world.settings["FEEDCRAWL_SOURCES"] = str(world.folder / "sources.yaml")
        world.crawl("feeds", spider="feeds")
        world.crawl("again", spider="feeds")
        world.crawl("shop", "source=shop", spider="site")
        yield world


def test_listings_are_followed_and_articles_fetched(story: World) -> None:
    requested = story.paths("first", "room.test")
    stories = [f"/2026/11/28/story-{name}" for name in ("0", "1", "2?utm_source=x", "3")]
    assert sorted(requested) == ["/", *stories, "/broken", "/page/2", "/page/3", "/robots.txt", "/section"]
    assert story.paths("first", "other.test") == []
    with story.client() as client:
        for number in range(4):
            assert (
                article(client, story.origin.site("room.test").url(f"/2026/11/28/story-{number}"))["status"]
                == "success"
            )


def test_the_next_run_asks_the_listings_again_and_no_article(story: World) -> None:
    assert sorted(story.paths("second", "room.test")) == ["/", "/broken", "/page/2", "/page/3", "/section"]


def test_depth_counts_from_the_base(story: World) -> None:
    assert story.paths("shallow", "room.test") == ["/"]


def test_sources_are_subscribed_with_their_settings(story: World) -> None:
    with story.client() as client:
        (feed_,) = Registry(client).all()
        (sitemap,) = Sitemaps(client).all()
    stored = feed_.subscription
    assert (stored.source, stored.priority, stored.categories, stored.min_interval_sec) == ("shop", 9, ("goods",), 1200)
    assert (sitemap.sitemap.source, sitemap.sitemap.priority, sitemap.sitemap.categories) == ("shop", 9, ("goods",))
    gaps = story.origin.ledger.gaps("shop.test")
    assert min(gaps) >= 0.2


def test_polls_and_the_crawl_of_a_site_fetch_each_article_once(story: World) -> None:
    listings, items = ["/all"], ["/item/1", "/item/1/", "/item/2"]
    rest = ["/list/2", "/robots.txt", "/sitemap.xml"]
    assert sorted(story.paths("feeds", "shop.test")) == [*listings, "/feed", *items, *rest]
    assert sorted(story.paths("shop", "shop.test")) == ["/all", "/list/2"]


def test_a_site_is_crawled_again_after_its_interval_and_not_before(story: World) -> None:
    assert story.paths("again", "shop.test") == []
    with story.wired() as wired:
        found = wired.frontier.find("site:shop")
        assert found is not None
        due = wired.frontier.due([found[0]])["site:shop"] / 1000
    assert 7100 < due - time.time() <= 7200
    assert (found[0].url, found[1].status, found[1].reason) == (
        story.origin.site("shop.test").url("/all"),
        "pending",
        "listing_read",
    )


def test_selectors_and_trailing_slashes_of_the_source_hold(story: World) -> None:
    site = story.origin.site("shop.test")
    lines = {line["uid"]: line for line in story.lines("articles")}
    for path in ("/item/1", "/item/1/", "/item/2"):
        line = lines[url_uid(site.url(path), keep_trailing_slash=True)]
        assert line["canonical_url"] == site.url(path)
        assert (line["extractor"], line["category"]) == ("rules", "goods")
        assert "Wrong words" not in line["clean_text"]


@pytest.mark.parametrize(
    ("argument", "sources", "message"),
    [
        ("source=nobody", "[]", "there is no source 'nobody'"),
        ("source=a", "[{name: a, base_url: 'http://a.test'}]", "ingestion_mode is feed"),
        ("url=http://a.test", "[{name: a}]", "source 'a': base_url is missing"),
        ("url=", "[]", "-a source=NAME or -a url=URL is needed"),
        ("depth=deep", "[]", "depth=deep is not a whole number"),
    ],
)
def test_a_site_that_cannot_be_crawled_is_named_at_the_start(
    story: World, argument: str, sources: str, message: str
) -> None:
    (story.folder / "bad.yaml").write_text(sources)
    run = story.crawl("bad", argument, spider="site", code=2, FEEDCRAWL_SOURCES=str(story.folder / "bad.yaml"))
    assert message in run.err
    assert "Traceback" not in run.err


def test_pages_are_capped_and_external_links_submitted(tmp_path) -> None:
    with world_in(tmp_path, FEEDCRAWL_SITE_MAX_PAGES="3") as world:
        site, other = world.origin.site("endless.test"), world.origin.site("other.test")
        other.serve("/2026/11/28/elsewhere", good_page("elsewhere"))
        for number in range(9):
            site.serve(f"/page/{number}", html(listing(f"/page/{number + 1}", other.url("/2026/11/28/elsewhere"))))
        source = f"[{{name: e, base_url: '{site.url('/page/0')}', ingestion_mode: spider, external_links: submit}}]"
        (world.folder / "sources.yaml").write_text(source)
        world.crawl("all", "source=e", spider="site", FEEDCRAWL_SOURCES=str(world.folder / "sources.yaml"))
        assert world.paths("all", "endless.test") == ["/robots.txt", "/page/0", "/page/1", "/page/2"]
        assert world.paths("all", "other.test") == ["/robots.txt", "/2026/11/28/elsewhere"]
