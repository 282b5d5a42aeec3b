from __future__ import annotations

import gzip
import http.client
import socket
import threading
import time
import zlib
from pathlib import Path
from xml.etree import ElementTree as ET

import brotli
import pytest
import zstandard
from documents import Item, atom, items, page, paragraphs, prose, rss, sitemap, sitemap_index
from loopback import Guard, NotLoopback, is_loopback
from origin import Answer, Origin, Site, busy, document, dropped, failure, hanging, html, redirect


def fetch(site: Site, target: str = "/", method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(site.address, site.port, timeout=60)
    named = {"Host": f"{site.name}:{site.port}"} | {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, target, headers=named)
        response = connection.getresponse()
        response.body = b"" if response.length is None and not response.chunked else response.read()
    finally:
        connection.close()
    return response


def wire(site: Site, sent: bytes) -> bytes:
    with socket.create_connection((site.address, site.port), timeout=60) as sock:
        sock.sendall(sent)
        return b"".join(iter(lambda: sock.recv(65_536), b""))


def get(target: str, host: str = "a.test") -> bytes:
    return f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()


def test_responses_come_in_their_order_and_the_last_is_repeated(origin: Origin) -> None:
    site = origin.site("a.test")
    site.serve("/feed", document("one"), busy(retry_after="7"), failure(410))
    statuses = [fetch(site, "/feed") for _ in range(4)]
    assert [response.status for response in statuses] == [200, 429, 410, 410]
    assert statuses[1].headers["Retry-After"] == "7"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"If_None_Match": '"1"'}, 304),
        ({"If_None_Match": 'W/"1"'}, 304),
        ({"If_None_Match": '"0", "1"'}, 304),
        ({"If_None_Match": '"2"', "If_Modified_Since": "Mon, 02 Mar 2026 08:00:00 GMT"}, 200),
        ({"If_Modified_Since": "Mon, 02 Mar 2026 08:00:00 GMT"}, 304),
        ({"If_Modified_Since": "Sun, 01 Mar 2026 08:00:00 GMT"}, 200),
        ({"If_Modified_Since": "nonsense"}, 200),
    ],
)
def test_validators(origin: Origin, headers: dict[str, str], status: int) -> None:
    site = origin.site("a.test")
    site.serve("/feed", document("x", etag='"1"', modified="Mon, 02 Mar 2026 08:00:00 GMT"))
    response = fetch(site, "/feed", **headers)
    assert (response.status, response.headers["ETag"]) == (status, '"1"')
    assert origin.ledger.conditional_share("a.test") == bool(headers)


@pytest.mark.parametrize(
    ("codings", "decode"),
    [
        ("gzip", gzip.decompress),
        ("deflate", zlib.decompress),
        ("br", brotli.decompress),
        ("zstd", lambda body: zstandard.ZstdDecompressor().decompress(body)),
        ("gzip, br", lambda body: gzip.decompress(brotli.decompress(body))),
    ],
)
@pytest.mark.parametrize("chunked", [True, False])
def test_content_codings(origin: Origin, codings: str, decode, chunked: bool) -> None:
    site = origin.site("a.test")
    text = prose("text", 500)
    site.serve("/", html(text, codings=codings, chunked=chunked, piece_bytes=100))
    response = fetch(site)
    assert (response.headers["Content-Encoding"], decode(response.body).decode()) == (codings, text)


def test_hostile_responses_reach_the_wire_as_scripted(origin: Origin) -> None:
    site = origin.site("a.test")
    site.serve("/raw", Answer(raw=b"HTTP/1.1 200 OK\r\nX: \xff\x00\r\n\r\nhello"))
    site.serve("/dropped", dropped())
    site.serve("/cut", document(b"0123456789", cut_bytes=4))
    site.serve("/cut-chunk", document(b"0123456789", cut_bytes=4, chunked=True))
    assert wire(site, get("/raw")).endswith(b"X: \xff\x00\r\n\r\nhello")
    assert wire(site, get("/dropped")) == b""
    assert b"Content-Length: 10" in wire(site, get("/cut"))
    assert wire(site, get("/cut")).endswith(b"\r\n\r\n0123")
    assert wire(site, get("/cut-chunk")).endswith(b"\r\n\r\n4\r\n0123\r\n")


def test_slow_responses_are_open_at_once(origin: Origin) -> None:
    site = origin.site("a.test")
    site.serve("/slow", document("x", wait_sec=0.2))
    threads = [threading.Thread(target=fetch, args=(site, "/slow")) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert origin.ledger.max_open("a.test") == 3
    first = origin.ledger.of("a.test")[0]
    assert 0.2 <= first.answered - first.received < 2


def test_a_hanging_response_ends_with_the_test(origin: Origin) -> None:
    site = origin.site("a.test")
    site.serve("/", hanging())
    with socket.create_connection((site.address, site.port), timeout=0.1) as sock:
        sock.sendall(get("/"))
        with pytest.raises(TimeoutError):
            sock.recv(1)
    origin.server.fresh()
    assert not origin.server.connections


def test_the_ledger_keeps_requests_as_they_came(origin: Origin) -> None:
    site = origin.site("a.test")
    wire(site, b"POST /p?q=1 HTTP/1.1\r\nhOST: a.test\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc")
    (request,) = origin.ledger.requests
    assert (request.method, request.target, request.path, request.body) == ("POST", "/p?q=1", "/p", b"abc")
    assert request.headers[0] == ("hOST", "a.test")
    assert (request.host, request.address, request.status) == ("a.test", site.address, 404)
    assert request.open_on_host == 1


def test_gaps_leave_robots_txt_out(origin: Origin) -> None:
    site = origin.site("a.test")
    for target in ("/one", "/robots.txt", "/two"):
        fetch(site, target)
        time.sleep(0.05)
    assert [request.status for request in origin.ledger.of("a.test", "/robots.txt")] == [404]
    assert len(origin.ledger.gaps("a.test")) == 1
    assert origin.ledger.gaps("a.test")[0] >= 0.1
    assert len(origin.ledger.gaps("a.test", robots=True)) == 2


def test_a_connection_serves_several_requests(origin: Origin) -> None:
    site = origin.site("a.test")
    site.serve("/", html("x"))
    assert wire(site, get("/").replace(b"Connection: close\r\n", b"") + get("/")).count(b"HTTP/1.1 200 OK") == 2
    assert len({request.client_port for request in origin.ledger.requests}) == 1


def test_head_has_the_headers_of_get_and_no_body(origin: Origin) -> None:
    site = origin.site("a.test")
    site.serve("/", html("12345"))
    answered = wire(site, get("/").replace(b"GET", b"HEAD"))
    assert b"Content-Length: 5" in answered
    assert answered.endswith(b"\r\n\r\n")


def test_sites_have_names_and_addresses(origin: Origin, hosts_file: Path) -> None:
    first, second = origin.site("a.test"), origin.site("b.test")
    www = origin.site("www.a.test", address=first.address)
    bare = origin.site()
    assert hosts_file.read_text() == "127.1.0.1 a.test\n127.1.0.2 b.test\n127.1.0.1 www.a.test\n"
    assert bare.url("/x") == f"http://127.1.0.4:{origin.server.port}/x"
    for site in (first, second, www, bare):
        site.serve("/", html(site.name))
        assert fetch(site).body.decode() == site.name
    assert origin.site("a.test") is first
    assert origin.ledger.hosts() == {"a.test", "b.test", "www.a.test", "127.1.0.4"}


def test_a_site_that_is_down_refuses_connections(origin: Origin) -> None:
    site = origin.site("a.test")
    origin.down(site)
    with pytest.raises(ConnectionRefusedError):
        fetch(site)
    origin.up(site)
    assert fetch(site).status == 404


def test_a_script_may_look_at_the_request(origin: Origin) -> None:
    site = origin.site("a.test")
    site.serve("/", lambda request: redirect(f"/{request.method}", 302))
    response = fetch(site)
    assert (response.status, response.headers["Location"]) == (302, "/GET")


def test_documents_are_well_formed_and_repeat() -> None:
    entries = items(3, "http://a.test/", seed=4)
    assert entries == items(3, "http://a.test/", seed=4)
    assert [entry.url for entry in entries] == [f"http://a.test/article-4-{number}" for number in (2, 1, 0)]
    odd = Item("<b>&</b>", "http://a.test/?a=1&b=2", guid="x", content="<p>&amp;</p>")
    for text in (rss([*entries, odd]), atom([*entries, odd]), sitemap([odd.url]), sitemap_index([odd.url])):
        ET.fromstring(text)
    assert ET.fromstring(rss([odd])).findtext(".//item/link") == odd.url
    assert len(paragraphs(1, 3)) == 3
    assert '<link rel="canonical" href="http://a.test/">' in page("T", ["x"], canonical="http://a.test/")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        (b"127.0.0.1", True),
        ("localhost", True),
        (None, True),
        ("192.0.2.1", False),
        ("0.0.0.0", False),
        ("feedcrawl.example", False),
    ],
)
def test_loopback_addresses_are_recognised(host: str | bytes | None, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_the_guard_stops_connections_beyond_loopback(socket_guard: Guard) -> None:
    with socket.socket() as sock, pytest.raises(NotLoopback):
        sock.connect(("192.0.2.1", 80))
    with socket.socket(type=socket.SOCK_DGRAM) as sock, pytest.raises(NotLoopback):
        sock.sendto(b"x", ("192.0.2.1", 53))
    with pytest.raises(NotLoopback):
        socket.getaddrinfo("feedcrawl.example", 80)
    assert len(socket_guard.refused) == 3
    socket_guard.refused.clear()


def test_feedcrawl_accepts_the_redis_of_the_tests(redis_client) -> None:
    assert redis_client.config_get("appendonly") == {"appendonly": "yes"}
    assert redis_client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    redis_client.set("odd", b"\xff\xfe")
    assert redis_client.get("odd").encode("utf-8", "surrogateescape") == b"\xff\xfe"


def test_scrapy_runs_with_a_clean_environment(scrapy_run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEEDCRAWL_CONTACT", "nobody")
    ran = scrapy_run("version", timeout_sec=50)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("Scrapy ")
