"""Crawls over several local addresses and proxies: which connection came from where, by the origin's own ledger."""

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from documents import paragraphs
from origin import document, failure, html
from proxies import Proxy
from tls import TlsFront
from world import World, article, entry, feed, good_page, world_in

from feedcrawl.rendering.browser import NAMES

BOUND = ("127.0.0.11", "127.0.0.12", "127.0.0.13")
FOR_ALL = "127.0.0.31"
SECRET = "correct-horse"


class Story:
    """A source with addresses, a source with two proxies, and a feed of no source."""

    def __init__(self, world: World, http: Proxy, socks: Proxy) -> None:
        self.world, self.http, self.socks = world, http, socks

    def names(self) -> dict[str, str]:
        return {site.name: site.address for site in self.world.origin.sites.values()}

    def sources(self) -> str:
        return f"""
- name: bound
  base_url: http://bound.test/
  feed_url: {self.serve("bound")}
  sitemap_urls: []
  bind_address: [{", ".join(BOUND)}]
- name: proxied
  base_url: http://proxied.test/
  feed_url: {self.serve("proxied")}
  sitemap_urls: []
  proxy:
    - http://crawler:${{PROXY_SECRET}}@127.0.0.1:{self.http.port}
    - socks5://127.0.0.1:{self.socks.port}
"""

    def serve(self, name: str) -> str:
        """The URL of a feed, whose entries are on four hosts of the site, and one with a media file."""
        items = []
        for number in range(4):
            site = self.world.origin.site(f"h{number}.{name}.test")
            for part in ("a", "b"):
                site.serve(f"/{name}-{number}{part}", good_page(f"{name} {number} {part}"))
                items.append(entry(site, f"{name}-{number}{part}"))
        home = self.world.origin.site(f"{name}.test")
        return home.serve("/feed", feed(items))


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    with ExitStack() as stack:
        world = stack.enter_context(world_in(tmp_path_factory.mktemp("outgoing")))
        http = stack.enter_context(Proxy("127.0.0.21", credentials=f"crawler:{SECRET}"))
        socks = stack.enter_context(Proxy("127.0.0.22"))
        crawled = Story(world, http, socks)
        (world.folder / "sources.yaml").write_text(crawled.sources())
        other = crawled.serve("other")
        world.settings |= {
            "FEEDCRAWL_SOURCES": str(world.folder / "sources.yaml"),
            "FEEDCRAWL_BIND_ADDRESSES": FOR_ALL,
            "PROXY_SECRET": SECRET,
        }
        world.crawl("first", f"feeds={other}")
        yield crawled


def came_from(story: Story, host: str) -> set[str]:
    """The client addresses of the requests to a host: for robots.txt, its feed and its pages."""
    requests = [request for request in story.world.requests["first"] if request.host == host]
    assert {request.path for request in requests} >= ({"/robots.txt"} if host.startswith("h") else {"/feed"})
    return {request.client_address for request in requests}


def by_host(story: Story, name: str) -> dict[str, set[str]]:
    return {host: came_from(story, host) for host in (f"{name}.test", *(f"h{n}.{name}.test" for n in range(4)))}


def test_each_host_of_a_source_is_requested_from_one_of_its_addresses(story: Story) -> None:
    found = by_host(story, "bound")
    assert {len(addresses) for addresses in found.values()} == {1}
    assert set().union(*found.values()) == set(BOUND)


def test_each_host_of_a_source_is_requested_through_one_of_its_proxies(story: Story) -> None:
    found = by_host(story, "proxied")
    assert {len(addresses) for addresses in found.values()} == {1}
    assert set().union(*found.values()) == {story.http.address, story.socks.address}
    assert {how for how, _ in story.http.requests} == {"connect"}
    for proxy in (story.http, story.socks):
        judged = {story.names()[host] for host, (address,) in found.items() if address == proxy.address}
        assert {target.rpartition(":")[0] for _, target in proxy.requests} == judged  # addresses, no names


def test_other_hosts_are_requested_from_the_common_addresses(story: Story) -> None:
    assert set().union(*by_host(story, "other").values()) == {FOR_ALL}


def test_records_name_the_outgoing_route(story: Story) -> None:
    names = {
        story.http.address: f"http://127.0.0.1:{story.http.port}",
        story.socks.address: f"socks5://127.0.0.1:{story.socks.port}",
    }
    lines = story.world.lines("articles")
    assert len(lines) == 24
    for line in lines:
        (address,) = came_from(story, urlsplit(line["url"]).hostname or "")
        assert line["outgoing"] == names.get(address, address)
    raw = [
        json.loads(line) for path in story.world.data.glob("raw/*/*.ndjson") for line in path.read_text().splitlines()
    ]
    articles = {line["fetch_id"]: line["outgoing"] for line in lines}
    assert articles == {ref["fetch_id"]: ref["outgoing"] for ref in raw if ref["uid"]}
    with story.world.client() as client:
        keys = list(client.scan_iter("fc:*journal:*"))
        journal = [json.loads(line) for key in keys for line in client.lrange(key, 0, -1)]
        assert article(client, lines[0]["url"])["outgoing"] == lines[0]["outgoing"]
    assert {line["outgoing"] for line in journal} == {
        names.get(address, address)
        for name in ("bound", "proxied", "other")
        for address in came_from(story, f"{name}.test")
    }


def test_the_secret_stays_in_the_environment(story: Story) -> None:
    written = [path.read_bytes() for path in story.world.data.rglob("*") if path.is_file()]
    token = base64.b64encode(f"crawler:{SECRET}".encode())
    for text in (*written, story.world.runs["first"].err.encode()):
        assert SECRET.encode() not in text
        assert token not in text


def test_a_name_that_the_guard_refuses_is_not_sent_to_the_proxy(tmp_path: Path) -> None:
    with Proxy("127.0.0.21") as proxy, world_in(tmp_path) as world:
        site = world.origin.site("inner.test")
        url = site.serve("/feed", feed([entry(site, "a", "http://hidden.test/a")]))
        (tmp_path / "hosts").write_text(f"10.0.0.8 hidden.test\n{site.address} inner.test\n")
        (tmp_path / "sources.yaml").write_text(
            f"- name: all\n  base_url: http://hidden.test/\n  feed_url: {url}\n  sitemap_urls: []\n  proxy: http://127.0.0.1:{proxy.port}\n"
        )
        world.crawl("first", FEEDCRAWL_SOURCES=str(tmp_path / "sources.yaml"))
        assert set(proxy.requests) == {("connect", f"{site.address}:{site.port}")}
        (refused,) = world.logged("first", "article_refused")
        assert refused["reason"] == "address_refused"


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_proxy_that_resolves_gets_the_name(scheme: str, tmp_path: Path) -> None:
    with Proxy("127.0.0.21") as proxy, world_in(tmp_path) as world:
        site = world.origin.site("127.1.0.1")
        feed_url = f"http://only-the-proxy.test:{site.port}/feed"
        site.serve("/feed", feed([]))
        proxy.names = lambda: {"only-the-proxy.test": site.address}
        (tmp_path / "sources.yaml").write_text(
            f"- name: all\n  base_url: http://only-the-proxy.test/\n  feed_url: {feed_url}\n  sitemap_urls: []\n"
            f"  proxy: {scheme}://127.0.0.1:{proxy.port}\n  proxy_resolves: true\n"
        )
        world.crawl("first", FEEDCRAWL_SOURCES=str(tmp_path / "sources.yaml"))
        target = feed_url if scheme == "http" else f"only-the-proxy.test:{site.port}"
        assert proxy.requests == [(scheme, target)]
        assert world.logged("first", "crawl_finished")[0]["polls_by_result"] == {"fetched": 1}


@pytest.mark.parametrize(("scheme", "kind"), [("http", "connect"), ("socks5", "socks5")])
def test_https_goes_through_a_tunnel_to_the_judged_address(scheme: str, kind: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        world, proxy = stack.enter_context(world_in(tmp_path)), stack.enter_context(Proxy("127.0.0.21"))
        site = world.origin.site("secure.test")
        front = stack.enter_context(TlsFront(tmp_path, site.name, site.address, site.port))
        site.serve("/a", good_page("a"))
        site.serve("/feed", feed([entry(site, "a", f"https://secure.test:{front.port}/a")]))
        feed_url = f"https://secure.test:{front.port}/feed"
        (tmp_path / "sources.yaml").write_text(
            f"- name: all\n  base_url: https://secure.test/\n  feed_url: {feed_url}\n  sitemap_urls: []\n"
            f"  proxy: {scheme}://127.0.0.1:{proxy.port}\n"
        )
        settings = {"FEEDCRAWL_SOURCES": str(tmp_path / "sources.yaml"), "SSL_CERT_FILE": str(front.authority)}
        world.crawl("first", **settings)
        assert world.paths("first", site.name) == ["/feed", "/robots.txt", "/a"]
        assert [line["outgoing"] for line in world.lines("articles")] == [f"{scheme}://127.0.0.1:{proxy.port}"]
        assert set(front.came_from) == {proxy.address}
        assert set(proxy.requests) == {(kind, f"{site.address}:{front.port}")}  # the certificate is that of the name


def test_probes_and_media_files_go_the_sources_way(tmp_path: Path) -> None:
    settings = {"FEEDCRAWL_MEDIA_FILES": "true", "FEEDCRAWL_CIRCUIT_FAILURES": "1", "FEEDCRAWL_LINGER_SEC": "2"}
    with world_in(tmp_path, FEEDCRAWL_CIRCUIT_FIRST_WAIT_SEC="0.3", **settings) as world:
        home, files = world.origin.site("news.test"), world.origin.site("files.news.test")
        shaky = world.origin.site("shaky.news.test")
        png = files.serve("/a.png", document(b"\x89PNG\r\n\x1a\n", content_type="image/png"))
        home.serve("/one", good_page("one"))
        shaky.serve("/", html("up"))
        shaky.serve("/two", failure(503), good_page("two"))
        entries = [replace(entry(home, "one"), files=(png,)), entry(shaky, "two")]
        url = home.serve("/feed", feed(entries))
        (tmp_path / "sources.yaml").write_text(
            f"- name: news\n  base_url: {home.url('/')}\n  feed_url: {url}\n  sitemap_urls: []\n"
            "  bind_address: 127.0.0.11\n"
        )
        world.crawl("first", FEEDCRAWL_SOURCES=str(tmp_path / "sources.yaml"))
        requests = {(request.method, request.host, request.path) for request in world.requests["first"]}
        assert {("HEAD", shaky.name, "/"), ("GET", files.name, "/a.png"), ("GET", shaky.name, "/two")} <= requests
        assert {request.client_address for request in world.requests["first"]} == {"127.0.0.11"}
        assert len(world.lines("articles")) == 2


@pytest.mark.chromium
@pytest.mark.skipif(not any(map(shutil.which, NAMES)), reason="there is no Chromium on PATH")
@pytest.mark.parametrize("way", ["bind", "socks5", "http"])
def test_the_browser_goes_the_sources_way(way: str, tmp_path: Path) -> None:
    with Proxy("127.0.0.21") as proxy, world_in(tmp_path, FEEDCRAWL_RENDER="auto") as world:
        site = world.origin.site("scripts.test")
        script = "fetch('/data').then(r => r.text()).then(t => document.body.innerHTML = t)"
        site.serve("/a", html(f"<html><title>A</title><body><div id=root></div><script>{script}</script>{' ' * 200}"))
        site.serve("/data", html("".join(f"<p>{text}</p>" for text in paragraphs("a", count=4))))
        url = site.serve("/feed", feed([entry(site, "a", summary="")]))
        route = "bind_address: 127.0.0.21" if way == "bind" else f"proxy: {way}://127.0.0.1:{proxy.port}"
        (tmp_path / "sources.yaml").write_text(
            f"- name: s\n  base_url: {site.url('/')}\n  feed_url: {url}\n  sitemap_urls: []\n  {route}\n"
        )
        world.crawl("first", FEEDCRAWL_SOURCES=str(tmp_path / "sources.yaml"))
        (line,) = world.lines("articles")
        assert line["rendered"] is True
        assert world.paths("first", site.name) == ["/feed", "/robots.txt", "/a", "/a", "/data"]
        assert {request.client_address for request in world.requests["first"]} == {"127.0.0.21"}


def test_a_proxy_that_fails_costs_no_attempt_and_opens_its_own_circuit(tmp_path: Path) -> None:
    with Proxy("127.0.0.21") as bad, Proxy("127.0.0.22") as good, world_in(tmp_path) as world:
        bad.broken = True
        sites = [world.origin.site(f"h{number}.news.test") for number in range(6)]
        for number, site in enumerate(sites):
            site.serve(f"/p{number}", good_page(f"p{number}"))
        home = world.origin.site("news.test")
        url = home.serve("/feed", feed([entry(site, f"p{number}") for number, site in enumerate(sites)]))
        (tmp_path / "sources.yaml").write_text(
            f"- name: news\n  base_url: http://news.test/\n  feed_url: {url}\n  sitemap_urls: []\n"
            f"  proxy: [socks5://127.0.0.1:{bad.port}, socks5://127.0.0.1:{good.port}]\n"
        )
        settings = {"FEEDCRAWL_SOURCES": str(tmp_path / "sources.yaml"), "FEEDCRAWL_CIRCUIT_FAILURES": "2"}
        world.crawl("first", FEEDCRAWL_LINGER_SEC="3", **settings)  # a task given back waits for a second
        assert len(world.lines("articles")) == 6
        assert {request.client_address for request in world.origin.ledger.requests} == {good.address}
        (opened,) = world.logged("first", "route_circuit_open")
        assert (opened["outgoing"], opened["reason"]) == (f"socks5://127.0.0.1:{bad.port}", "proxy_failed")
        assert opened["next_try_sec"] == 30.0
        assert world.logged("first", "circuit_open") == []
        with world.wired() as wired:
            assert wired.dead_letters.count() == 0
