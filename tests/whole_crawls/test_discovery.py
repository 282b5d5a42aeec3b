"""Pages in place of feeds: as a command subscribes to them, and as a crawl meets them."""

import json
from collections import Counter
from pathlib import Path

import pytest
from documents import atom, items, page, paragraphs, rss
from origin import Answer, Site, document, failure, html, redirect
from scrapy_process import Run, run_scrapy
from world import World, entry, feed, good_page, world_in


def announcing(*links: str, body: str = "") -> Answer:
    return html(f"<!DOCTYPE html><html><head><title>A site</title>{''.join(links)}</head><body>{body}</body></html>")


def alternate(href: str, title: str = "", kind: str = "rss") -> str:
    return f'<link rel="alternate" type="application/{kind}+xml" title="{title}" href="{href}">'


def entries(site: Site, seed: int = 0) -> list:
    return items(3, site.url(f"/{seed}"), seed)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory):
    with world_in(tmp_path_factory.mktemp("discovery"), FEEDCRAWL_PARSER_PROCESSES="1") as world:
        yield world


def sites(world: World) -> dict[str, str]:
    """The addresses of pages by what they do."""
    found = {}
    for name in ("one", "several", "guess", "linked", "none", "closed"):
        found[name] = world.origin.site(f"{name}.test").url("/")
    single = world.origin.site("one.test")
    links = alternate("/rss", "All"), alternate("/atom", "All", "atom"), alternate("/comments/feed", "Comments")
    single.serve("/", announcing(*links))
    single.serve("/rss", document(rss(entries(single))))
    single.serve("/atom", document(atom(entries(single)[:2])))
    single.serve("/comments/feed", document(rss(entries(single, 9))))
    several = world.origin.site("several.test")
    several.serve("/", announcing(alternate("/404"), alternate("/a", "A"), alternate("/b", "B")))
    for number, name in enumerate("ab"):
        several.serve(f"/{name}", document(rss(entries(several, number), title=f"Feed {name}")))
    guess = world.origin.site("guess.test")
    guess.serve("/", announcing())
    guess.serve("/feed", announcing())
    guess.serve("/rss.xml", document(rss(entries(guess))))
    linked = world.origin.site("linked.test")
    linked.serve("/", announcing(body='<a href="/news/export.rss">Subscribe</a>'))
    linked.serve("/news/export.rss", document(rss(entries(linked))))
    world.origin.site("none.test").serve("/", html(page("No feed", paragraphs(1, 3))))
    closed = world.origin.site("closed.test")
    closed.serve("/robots.txt", document("User-agent: *\nDisallow: /feed\nDisallow: /rss", content_type="text/plain"))
    closed.serve("/", announcing())
    closed.serve("/feed", document(rss(entries(closed))))
    return found


def scrapy(world: World, *arguments: str) -> Run:
    return run_scrapy(*arguments, data_dir=world.data, env=world.env, timeout_sec=60)


@pytest.fixture(scope="module")
def subscribed(world: World) -> tuple[dict[str, str], Run, set[str]]:
    found = sites(world)
    direct = world.origin.site("direct.test")
    found["direct"] = direct.serve("/feed", document(rss(entries(direct))))
    found["gone"] = direct.serve("/gone", failure(404))
    found["away"] = direct.serve("/away", failure(503))
    found["list"] = direct.serve("/list", document(f"{found['direct']}\n", content_type="text/plain"))
    found["json"] = direct.serve("/json", document('{"error": 1}', content_type="application/json"))
    ran = scrapy(world, "subscribe", *found.values())
    requested = {f"{request.host}{request.target}" for request in world.origin.ledger.requests}
    return found, ran, requested


def test_the_command_ends_subscribed_to_the_feeds_of_pages(subscribed) -> None:
    found, ran, _ = subscribed
    host = {name: url.removesuffix("/") for name, url in found.items()}
    assert {line.split()[1] for line in ran.out.splitlines() if line.count("-") == 4 and "  http" in line} == {
        f"{host['one']}/rss",
        f"{host['guess']}/rss.xml",
        f"{host['linked']}/news/export.rss",
        found["direct"],
        found["away"],
        found["list"],
    }


def test_several_feeds_are_a_choice(subscribed) -> None:
    found, ran, _ = subscribed
    assert ran.code == 3
    (start,) = [number for number, line in enumerate(ran.out.splitlines()) if "offers several" in line]
    offered = [line.split(maxsplit=2) for line in ran.out.splitlines()[start + 1 : start + 3]]
    assert offered == [
        ["1", f"{found['several']}a", "Feed a (3 entries)"],
        ["2", f"{found['several']}b", "Feed b (3 entries)"],
    ]


def test_urls_that_are_not_subscribed_are_named_with_a_reason(subscribed) -> None:
    found, ran, _ = subscribed
    lines = ran.err.splitlines()
    assert len(lines) == 6, ran.err
    for name in ("none", "closed", "gone", "json"):
        assert any(f"{found[name]}: it is not subscribed: " in line for line in lines), name
    unseen = f"{found['away']} could not be looked at, its server responds 503 Service Unavailable (http_503)"
    assert any(unseen in line for line in lines)


def test_robots_txt_is_obeyed_for_pages(subscribed) -> None:
    _, _, requested = subscribed
    assert "one.test/robots.txt" in requested
    assert "closed.test/" in requested
    assert not {"closed.test/feed", "closed.test/rss", "closed.test/rss.xml"} & requested


def test_a_feed_is_picked(subscribed, world: World) -> None:
    found, _, _ = subscribed
    beyond = scrapy(world, "subscribe", found["several"], "--pick", "3")
    assert (beyond.code, beyond.out) == (2, "")
    assert "--pick 3, but it offers 2 feeds (no_such_feed)" in beyond.err
    picked = scrapy(world, "subscribe", found["several"], "--pick", "2")
    assert (picked.code, picked.out.split()[1]) == (0, f"{found['several']}b")
    picking = scrapy(world, "subscribe", found["several"], "--pick", "all")
    assert (picking.code, len(picking.out.splitlines())) == (0, 2)
    known = [line.split()[2] for line in picking.err.splitlines() if line.endswith("is subscribed already")]
    assert known == [f"{found['several']}b"]


def feeds_of(world: World) -> dict[str, dict]:
    return {each["url"]: each for each in json.loads(scrapy(world, "feeds", "--json").out)}


def test_a_crawl_leaves_pages_for_their_feeds(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world:
        found = sites(world)
        first = world.crawl("first", world.feeds_file("\n".join(f"{url} {name}" for name, url in found.items())))
        feeds = feeds_of(world)
        host = {name: url.removesuffix("/") for name, url in found.items()}
        reached = {
            f"{host['one']}/rss": ["one"],
            f"{host['several']}/a": ["several"],
            f"{host['guess']}/rss.xml": ["guess"],
            f"{host['linked']}/news/export.rss": ["linked"],
            f"{host['none']}/": ["none"],
            f"{host['closed']}/": ["closed"],
        }
        assert {url: each["categories"] for url, each in feeds.items()} == reached, first.err
        left = {each["url"]: each for each in world.logged("first", "page_left_for_feed")}
        assert left[found["several"]]["choice"].split() == [f"{host['several']}/a", f"{host['several']}/b"]
        failed = {each["url"]: (each["result"], each["detail"]) for each in world.logged("first", "feed_failed")}
        assert set(failed) == {found["none"], found["closed"]}
        assert all(result == "html" and "no feed was found" in detail for result, detail in failed.values())
        requested = world.paths("first", "closed.test")
        assert "/robots.txt" in requested
        assert "/feed" not in requested

        # The same pages again lead to the feeds that are there; a page without a feed is not searched anew.
        world.crawl("again", "feeds=" + ",".join(found.values()), "now=1")
        assert feeds_of(world).keys() == feeds.keys()
        assert world.paths("again", "guess.test") == ["/rss.xml"]
        assert world.paths("again", "none.test") == ["/"]
        why = scrapy(world, "why", found["guess"])
        assert f"next: {host['guess']}/rss.xml" in why.out

        # A page without a feed that the arguments name is refused as a page, whatever its last guess responded.
        page_url = world.origin.site("typed.test").serve("/", html(page("No feed", paragraphs(1, 3))))
        world.crawl("typed", f"feeds={page_url}", code=1)
        (refused,) = world.logged("typed", "feed_refused")
        assert (refused["url"], refused["reason"]) == (page_url, "html")
        assert refused["detail"] == f"no feed was found at or through {page_url}; it is not subscribed"


def test_a_named_host_without_a_public_address_is_not_subscribed(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world:
        (tmp_path / "hosts").write_text("10.0.0.8 hidden.test\n")
        world.crawl("typed", "feeds=http://hidden.test/feed", code=1)
        (refused,) = world.logged("typed", "feed_refused")
        assert (refused["url"], refused["reason"]) == ("http://hidden.test/feed", "address_refused")
        assert feeds_of(world) == {}


def test_a_page_whose_feed_is_subscribed_is_merged_with_the_feed(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world:
        site = world.origin.site("joined.test")
        site.serve("/", announcing(alternate("/feed")))
        url = site.serve("/feed", feed([entry(site, "a")]))
        site.serve("/a", good_page("a"))
        world.crawl("feed", f"feeds={url}", "category=first")
        world.crawl("page", f"feeds={site.url('/')}", "category=second")
        feeds = feeds_of(world)
        assert {each: found["categories"] for each, found in feeds.items()} == {url: ["first", "second"]}
        assert scrapy(world, "unsubscribe", site.url("/")).code == 0
        assert feeds_of(world) == {}


def test_a_search_for_feeds_ends_where_each_address_is_a_page(tmp_path: Path) -> None:
    """A page at a usual address of feeds, and one that redirects to a page which names it: both are requested again."""
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world:
        every, login = world.origin.site("every.test"), world.origin.site("login.test")
        usual = ("/feed", "/rss", "/atom.xml", "/feed.xml", "/rss.xml", "/index.xml", "/feed.json", "/index.rdf")
        for path in (*usual, *(f"/feed{path}" for path in usual)):
            every.serve(path, announcing(body="Please log in"))
        login.serve("/feed", redirect("/login", 302))
        login.serve("/login", announcing(alternate("/feed"), body="Please log in"))
        words = f"feeds={every.url('/feed')},{login.url('/feed')}"
        world.crawl("pages", words, "now=1", code=1, FEEDCRAWL_LINGER_SEC="0.1")  # nothing is found through the log-in
        requested = Counter((request.host, request.path) for request in world.requests["pages"])
        assert {path: number for (host, path), number in requested.items() if host == "every.test"} == {
            **dict.fromkeys(usual, 1),
            **dict.fromkeys([f"/feed{path}" for path in usual[:5]], 1),
            "/robots.txt": 1,
        }
        assert requested["login.test", "/feed"] == requested["login.test", "/login"] == 1
        with world.wired() as wired:
            (found,) = wired.registry.all()
        assert (found.subscription.url, found.polls.last_result) == (every.url("/feed"), "html")
        assert found.polls.next_at is not None
