"""`scrapy crawl sitemaps` as a user runs it: two runs over sitemaps of every kind, and what they left behind."""

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from origin import Answer, Origin, document, html
from world import World, article, good_page, world_in

from feedcrawl.domain.sitemaps.state import Watched
from feedcrawl.store.sites.sitemaps import Sitemaps

NOW = datetime.now(UTC)


def ago(hours: float) -> str:
    return (NOW - timedelta(hours=hours)).isoformat(timespec="seconds")


def urlset(*urls: tuple[str, float | None], inside: str = "") -> str:
    rows = (
        f"<url><loc>{url}</loc>{'' if hours is None else f'<lastmod>{ago(hours)}</lastmod>'}{inside}</url>"
        for url, hours in urls
    )
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(rows)}</urlset>'


def index(*urls: str) -> Answer:
    rows = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return document(f"<sitemapindex>{rows}</sitemapindex>")


def robots(text: str) -> Answer:
    return document(text, content_type="text/plain")


def pages(origin: Origin, name: str, *paths: str) -> list[str]:
    site = origin.site(name)
    return [site.serve(f"/{path}", good_page(f"{name} {path}")) for path in paths]


def dated(origin: Origin) -> str:
    new, old, later = pages(origin, "dated.test", "new", "old", "later")
    first, second = urlset((new, 1), (old, 60)), urlset((new, 1), (old, 60), (later, 0.5))
    answers = document(first, etag='"1"'), document(second, etag='"2"')
    return origin.site("dated.test").serve("/sitemap.xml", *answers)


def nested(origin: Origin) -> str:
    """An index that lists itself, a gzipped part, one that is missing, and a chain that is too deep."""
    site = origin.site("nested.test")
    part = gzip.compress(urlset((pages(origin, "nested.test", "part")[0], 1)).encode())
    for depth in range(1, 4):
        site.serve(f"/deep{depth}.xml", index(site.url(f"/deep{depth + 1}.xml")))
    parts = [site.url("/index.xml"), site.url("/missing.xml"), site.url("/deep1.xml")]
    parts.append(site.serve("/part.xml.gz", document(part, content_type="application/gzip")))
    return site.serve("/index.xml", index(*parts))


def news(origin: Origin) -> str:
    site = origin.site("news.test")
    bare = "<html><body><p>" + "Nothing of a date is written here, only words about the harbour. " * 12
    url = site.serve("/bare", html(bare))
    news_tags = "<news:news><news:publication_date>2026-03-02T08:00:00Z</news:publication_date></news:news>"
    return site.serve("/news.xml", document(urlset((url, 1), inside=news_tags)))


def text(origin: Origin) -> str:
    first, second = pages(origin, "text.test", "t1", "t2")
    lists = (f"{first}\n", f"{first}\n{second}\n")
    return origin.site("text.test").serve(
        "/sitemap.txt", *(document(each, content_type="text/plain") for each in lists)
    )


def cross(origin: Origin) -> str:
    """A list of other sites' pages: one of them names it in its robots.txt, the other does not."""
    site = origin.site("lists.test")
    url = site.url("/others.xml")
    origin.site("friend.test").serve("/robots.txt", robots(f"Sitemap: {url}\n"))
    origin.site("stranger.test").serve("/robots.txt", robots("User-agent: *\nAllow: /\n"))
    urls = [(pages(origin, name, "page")[0], 1.0) for name in ("friend.test", "stranger.test", "lists.test")]
    return site.serve("/others.xml", document(urlset(*urls), etag='"1"'))


def home(origin: Origin) -> str:
    """A page of a site whose robots.txt names one sitemap, and which keeps another at a usual place."""
    site = origin.site("home.test")
    named, usual = pages(origin, "home.test", "named", "usual")
    site.serve("/robots.txt", robots(f"Sitemap: {site.url('/maps/one.xml')}\nSitemap: {site.url('/robots.txt')}\n"))
    site.serve("/maps/one.xml", document(urlset((named, 1))))
    site.serve("/news-sitemap.xml", document(urlset((usual, 1))))
    return site.serve("/", html("<html><title>Home</title><p>Welcome</p></html>"))


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_in(tmp_path_factory.mktemp("sitemaps")) as world:
        urls = [make(world.origin) for make in (dated, nested, news, text, cross, home)]
        (world.folder / "list.txt").write_text("\n".join(urls[1:]))
        world.crawl("first", f"sitemaps={urls[0]},{world.folder / 'list.txt'}", "category=maps", spider="sitemaps")
        world.crawl("second", "now=1", spider="sitemaps")
        world.crawl("third", spider="sitemaps")
        yield world


def watched(world: World) -> dict[str, Watched]:
    with world.client() as client:
        found = Sitemaps(client).all()
        return {
            each.sitemap.url.partition("://")[2].replace(f":{world.origin.server.port}", ""): each for each in found
        }


def stored(world: World, host: str, path: str) -> bool:
    with world.client() as client:
        return article(client, world.origin.site(host).url(path)).get("status") == "success"


def test_only_recently_changed_pages_are_fetched(story: World) -> None:
    assert story.paths("first", "dated.test") == ["/sitemap.xml", "/robots.txt", "/new"]
    assert story.paths("second", "dated.test") == ["/sitemap.xml", "/later"]
    assert stored(story, "dated.test", "/new")
    assert not stored(story, "dated.test", "/old")


def test_polls_are_conditional_and_wait_at_least_six_hours(story: World) -> None:
    again = [each for each in story.requests["second"] if each.target == "/sitemap.xml" and each.host == "dated.test"]
    assert [each.header("If-None-Match") for each in again] == ['"1"']
    assert story.requests["third"] == []
    for each in watched(story).values():
        assert each.record.interval_sec is not None
        assert each.record.interval_sec >= 21_600 * (1 if each.record.last_success_at else 0.8)


def test_an_index_is_followed_three_deep_and_each_part_once(story: World) -> None:
    requested = [path for path in story.paths("first", "nested.test") if path.endswith((".xml", ".gz"))]
    deep = ["/deep1.xml", "/deep2.xml", "/deep3.xml"]
    assert sorted(requested) == [*deep, "/index.xml", "/missing.xml", "/part.xml.gz"]
    assert stored(story, "nested.test", "/part")
    found = watched(story)
    assert found["nested.test/deep3.xml"].sitemap.depth == 3
    assert found["nested.test/part.xml.gz"].sitemap.root == found["nested.test/index.xml"].id
    assert found["nested.test/missing.xml"].record.last_result == "http_404"


def test_fields_of_a_news_sitemap_reach_the_article(story: World) -> None:
    with story.client() as client:
        assert article(client, story.origin.site("news.test").url("/bare"))["published"] == "2026-03-02T08:00:00Z"


def test_without_dates_the_first_sight_counts(story: World) -> None:
    assert story.paths("first", "text.test") == ["/sitemap.txt", "/robots.txt", "/t1"]
    assert story.paths("second", "text.test") == ["/sitemap.txt", "/t2"]


def test_a_sitemap_lists_pages_of_another_site_only_if_its_robots_txt_agrees(story: World) -> None:
    assert story.paths("first", "friend.test") == ["/robots.txt", "/page"]
    assert story.paths("first", "stranger.test") == ["/robots.txt"]
    assert stored(story, "friend.test", "/page")
    assert stored(story, "lists.test", "/page")
    assert watched(story)["lists.test/others.xml"].record.waiting == 0


def test_a_page_is_replaced_by_the_sitemaps_of_its_site(story: World) -> None:
    assert stored(story, "home.test", "/named")
    assert stored(story, "home.test", "/usual")
    found = {name for name in watched(story) if name.startswith("home.test")}
    assert found == {"home.test/maps/one.xml", "home.test/news-sitemap.xml", "home.test/robots.txt"}


def test_articles_have_their_category(story: World) -> None:
    lines = story.lines("articles")
    assert {line["category"] for line in lines} == {"maps"}
    assert len({line["uid"] for line in lines}) == len(lines)
    with story.client() as client:
        assert story.origin.site("dated.test").url("/new") in client.smembers("rss:category_links:maps")


def test_each_poll_is_in_the_journal(story: World) -> None:
    with story.client() as client:
        journal = Sitemaps(client).journal(watched(story)["dated.test/sitemap.xml"].id)
    assert [(line["result"], line["new"], line.get("old")) for line in journal] == [
        ("fetched", 1, None),
        ("fetched", 1, 1),
    ]
    polled = story.logged("first", "sitemap_polled")
    assert {"sitemap_id", "url", "new", "old", "waiting", "interval_after"} <= polled[0].keys()


def test_an_argument_of_no_use_ends_with_status_two(story: World) -> None:
    run = story.crawl("useless", "sitemaps=/no/such/file.txt", spider="sitemaps", code=2)
    assert "file_not_found" in run.err


def test_a_sitemap_larger_than_a_poll_takes_comes_in_portions(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_SITEMAP_MAX_NEW="2") as world:
        urls = pages(world.origin, "large.test", *"abcde")
        listed = document("\n".join(urls), content_type="text/plain", etag='"1"')
        sitemap = world.origin.site("large.test").serve("/sitemap.txt", listed)
        world.crawl("first", f"sitemaps={sitemap}", "now=1", spider="sitemaps")  # a new sitemap is polled once
        world.crawl("second", "now=1", spider="sitemaps")
        world.crawl("third", "now=1", spider="sitemaps")
        world.crawl("fourth", "now=1", spider="sitemaps")
        met = [len(world.paths(run, "large.test")) for run in ("first", "second", "third", "fourth")]
        assert met == [4, 3, 2, 1]
        (last,) = world.requests["fourth"]
        assert (last.header("If-None-Match"), last.status) == ('"1"', 304)


def test_a_site_brings_a_bounded_number_of_pages_a_day(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_SITEMAP_URLS_PER_DAY="3") as world:
        site = world.origin.site("full.test")
        parts = []
        for part in "abc":
            urls = pages(world.origin, "full.test", *(f"{part}{number}" for number in range(2)))
            parts.append(site.serve(f"/{part}.txt", document("\n".join(urls), content_type="text/plain")))
        sitemap = site.serve("/index.xml", index(*parts))
        world.crawl("first", f"sitemaps={sitemap}", spider="sitemaps")
        # Parts that were taken before the site was full are read: two of them, or all three.
        assert sum(path[2:].isdecimal() for path in world.paths("first", "full.test")) == 3
        world.crawl("second", "now=1", spider="sitemaps")
        assert world.paths("second", "full.test") == ["/index.xml"]


def test_a_page_where_a_sitemap_was_named_is_an_error(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        site = world.origin.site("wrong.test")
        sitemap = site.serve("/map.xml", html("<html><p>not here"))
        world.crawl("first", f"sitemaps={sitemap}", spider="sitemaps")
        assert world.paths("first", "wrong.test") == ["/map.xml"]
        (failed,) = world.logged("first", "sitemap_failed")
        assert failed["result"] == "html"


def test_a_named_address_where_nothing_is_is_not_watched(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        (tmp_path / "hosts").write_text("10.0.0.8 hidden.test\n")
        site = world.origin.site("found.test")
        good = site.serve("/sitemap.xml", document(urlset()))
        arguments = [good, site.url("/none.xml"), "http://hidden.test/sitemap.xml"]
        world.crawl("first", f"sitemaps={','.join(arguments)}", spider="sitemaps", code=1)
        refused = {each["url"]: each["reason"] for each in world.logged("first", "sitemap_refused")}
        assert refused == {arguments[1]: "http_404", arguments[2]: "address_refused"}
        assert watched(world).keys() == {"found.test/sitemap.xml"}

        # A sitemap that was there before goes on being watched.
        site.serve("/sitemap.xml", Answer(status=404))
        world.crawl("second", f"sitemaps={good}", "now=1", spider="sitemaps")
        assert world.logged("second", "sitemap_failed")
        assert watched(world).keys() == {"found.test/sitemap.xml"}
