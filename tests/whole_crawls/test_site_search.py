"""Sources that name only their base: feed and sitemaps are searched once; a failed search lists its attempts."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from documents import sitemap
from origin import document, html
from scrapy_process import run_scrapy
from world import World, entry, events, feed, good_page, world_in

SOURCES = """
- {{name: linked, base_url: '{linked}', category: world, priority: 8}}
- {{name: header, base_url: '{header}'}}
- {{name: mapped, base_url: '{mapped}'}}
- {{name: bare, base_url: '{bare}'}}
- {{name: unmapped, base_url: '{unmapped}', sitemap_url: '{unmapped}'}}
- {{name: paged, base_url: '{paged}', sitemap_url: '{paged}'}}
- {{name: fed, base_url: '{fed}', feed_url: '{fed}own.xml'}}
- {{name: alone, base_url: '{alone}', feed_url: '{alone}own.xml', sitemap_urls: []}}
"""


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_in(tmp_path_factory.mktemp("search")) as world:
        sites = {
            name: world.origin.site(f"{name}.test")
            for name in ("linked", "header", "mapped", "bare", "paged", "unmapped", "fed", "alone")
        }
        now = datetime.now(UTC)
        page = "<html><head><title>News</title>{}</head><body><p>words</p></body></html>"
        named = '<link rel="alternate" type="application/rss+xml" href="/comments/feed" title="Comments">'
        named += '<link rel="alternate" type="application/rss+xml" href="/news.xml">'
        sites["linked"].serve("/", html(page.format(named)))
        sites["linked"].serve("/news.xml", feed([entry(sites["linked"], "one")]))
        sites["linked"].serve("/one", good_page("one"))
        own = '</own.xml>; rel="alternate"; type="application/rss+xml"'
        sites["header"].serve("/", html(page.format(""), headers=(("Link", own),)))
        sites["header"].serve("/own.xml", feed([]))
        robots = f"User-agent: *\nAllow: /\nSitemap: {sites['mapped'].url('/map.xml')}\n"
        sites["mapped"].serve("/robots.txt", document(robots, content_type="text/plain"))
        sites["mapped"].serve(
            "/map.xml", document(sitemap([sites["mapped"].serve("/two", good_page("two"))], modified=now))
        )
        for name in ("mapped", "bare", "paged", "unmapped"):
            sites[name].serve("/", html(page.format("")))
        sites["paged"].serve(
            "/sitemap.xml", document(sitemap([sites["paged"].serve("/three", good_page("three"))], modified=now))
        )
        for name in ("fed", "alone"):
            sites[name].serve("/own.xml", feed([]))
            sites[name].serve(
                "/sitemap.xml", document(sitemap([sites[name].serve("/four", good_page(name))], modified=now))
            )
        urls = {name: site.url("/") for name, site in sites.items()}
        (world.folder / "sources.yaml").write_text(SOURCES.format(**urls))
        world.settings["FEEDCRAWL_SOURCES"] = str(world.folder / "sources.yaml")
        world.crawl("first")
        world.crawl("second")
        yield world


def test_feeds_and_sitemaps_are_found_and_polled(searched: World) -> None:
    with searched.wired() as wired:
        feeds = {feed.subscription.url: feed.subscription for feed in wired.registry.all()}
        maps = {each.sitemap.source: each.sitemap.url for each in wired.sitemaps.all()}
    linked, header = searched.origin.site("linked.test"), searched.origin.site("header.test")
    assert feeds.keys() >= {linked.url("/news.xml"), header.url("/own.xml")}
    own = feeds[linked.url("/news.xml")]
    assert (own.source, own.categories, own.priority) == ("linked", ("world",), 8)
    assert maps["mapped"] == searched.origin.site("mapped.test").url("/map.xml")
    assert {line["url"].rpartition("/")[2] for line in searched.lines("articles")} == {"one", "two", "three", "four"}


def test_sitemaps_are_found_beside_a_named_feed_unless_the_source_disables_them(searched: World) -> None:
    fed, alone = searched.origin.site("fed.test"), searched.origin.site("alone.test")
    with searched.wired() as wired:
        assert {each.sitemap.url for each in wired.sitemaps.all() if each.sitemap.source == "fed"} == {
            fed.url("/sitemap.xml")
        }
    requested = [request.target for request in searched.requests["first"] if request.host == "fed.test"]
    assert "/feed" not in requested
    assert {request.target for request in searched.requests["first"] if request.host == "alone.test"} == {"/own.xml"}
    assert alone.url("/four") not in {line["url"] for line in searched.lines("articles")}


def test_a_search_without_result_is_logged_once(searched: World) -> None:
    logged = {each["source"]: each for each in searched.logged("first", "source_nothing_found")}
    assert set(logged) == {"bare", "unmapped"}
    line = logged["bare"]
    assert "/news-sitemap.xml (http_404)" in logged["unmapped"]["detail"]
    bare = searched.origin.site("bare.test")
    assert (line["source"], line["url"]) == ("bare", bare.url("/"))
    assert f"{bare.url('/feed')} (http_404)" in line["detail"]
    assert f"{bare.url('/sitemap.xml')} (http_404)" in line["detail"]
    assert searched.logged("second", "source_nothing_found") == []
    with searched.client() as client:
        searched_sources = {each["source"]: each for each in events(client, "source_searched")}
    assert set(searched_sources) == {"linked", "header", "mapped", "bare", "paged", "unmapped", "fed"}
    assert (searched_sources["fed"]["sought"], searched_sources["paged"]["sought"]) == (["sitemap"], ["feed"])
    assert searched_sources["bare"]["feeds"] == searched_sources["bare"]["sitemaps"] == []
    run = run_scrapy("feeds", data_dir=searched.data, env=searched.env, timeout_sec=60)
    assert "source 'bare': no feed and no sitemap was found; tried: " in run.err
    run = run_scrapy("why", "bare.test:" + bare.url("/").split(":")[2], data_dir=searched.data, env=searched.env)
    assert (run.code, f"http_404             {bare.url('/feed')}" in run.out) == (0, True), run.out + run.err


def test_the_explanation_of_a_source_shows_its_current_addresses(searched: World) -> None:
    paged = searched.origin.site("paged.test")
    run = run_scrapy("why", "paged", data_dir=searched.data, env=searched.env, timeout_sec=60)
    assert f"now fetched          {paged.url('/sitemap.xml')}" in run.out, run.out + run.err
    assert f"http_404             {paged.url('/news-sitemap.xml')}" in run.out
    assert "found" in run.out.splitlines()[0]
    assert paged.url("/news-sitemap.xml") not in run.out.splitlines()[0]


def test_nothing_is_requested_again_at_the_next_start(searched: World) -> None:
    assert searched.requests["second"] == []


def test_hosts_keep_their_pace_during_a_search(searched: World) -> None:
    assert min(searched.origin.ledger.gaps("bare.test")) >= 0.05
