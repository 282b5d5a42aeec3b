"""Every spelling of loopback, by every way a URL takes, against a canary that nobody may touch.

The canary stands for all that is not public. Whatever a leak would reach is loopback too: names come from a hosts file,
and the crawler's getaddrinfo reads numbers only.
"""

import contextlib
import copy
import json
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import AF_INET6
from threading import Thread
from typing import Any

import pytest
from scrapy_process import clean_environment, run_python
from spellings import LOOPBACK_HOSTS, NAMES

from feedcrawl.crawl.hardening import HARDENED

CRAWLER = """
import json, socket, sys

real = socket.getaddrinfo
socket.getaddrinfo = lambda host, port, family=0, type=0, proto=0, flags=0: real(
    host, port, family, type, proto, flags | socket.AI_NUMERICHOST
)

import scrapy
from scrapy.crawler import AsyncCrawlerProcess

plan = json.loads(sys.argv[1])


class Probe(scrapy.Spider):
    name = "probe"

    async def start(self):
        for url in plan["urls"]:
            for method in ("GET", "HEAD"):
                try:
                    yield scrapy.Request(
                        url, self.parse, method, errback=self.failed, dont_filter=True, cb_kwargs={"asked": url}
                    )
                except ValueError as error:
                    tell(url, "ValueError")

    def parse(self, response, asked):
        tell(asked, response.status)

    def failed(self, failure):
        tell(failure.request.cb_kwargs["asked"], type(failure.value).__name__)


def tell(url, outcome):
    print(json.dumps([url, outcome]), flush=True)


process = AsyncCrawlerProcess(plan["settings"])
process.crawl(Probe)
process.start()
"""


class Server(ThreadingHTTPServer):
    """Remembers who called."""

    daemon_threads = True
    request_queue_size = 128  # with the default of 5, a busy machine drops connections of 64 requests at a time

    def __init__(self, address: tuple[str, int], targets: list[str]) -> None:
        self.targets = targets
        self.calls: list[str] = []
        self.sent_bytes = 0
        super().__init__(address, Handler)
        Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()


class Server6(Server):
    address_family = AF_INET6


class Handler(BaseHTTPRequestHandler):
    """`/go/N` redirects to the N-th target, in turn with each status; robots.txt to the first."""

    server: Server

    def do_GET(self) -> None:
        self.server.calls.append(self.path)
        if self.path == "/headers":
            self.endless_headers()
            return
        number = {"robots.txt": "0"}.get(self.path[1:], self.path.partition("/go/")[2])
        body = b""
        if number and self.server.targets:
            self.send_response((301, 302, 303, 307, 308)[int(number) % 5])
            self.send_header("Location", self.server.targets[int(number)].encode().decode("latin-1"))
        else:
            body = b"<meta http-equiv=refresh content='0; url=http://127.0.0.1/'>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def endless_headers(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        with contextlib.suppress(OSError):
            while self.server.sent_bytes < 50 << 20:
                self.server.sent_bytes += self.wfile.write(b"X-Header: " + b"a" * 990 + b"\r\n")

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def canaries() -> Iterator[list[Server]]:
    """On both loopbacks, with one port."""
    first = Server(("127.0.0.1", 0), [])
    found = [first]
    with contextlib.suppress(OSError):  # no IPv6 on this machine
        found.append(Server6(("::1", first.server_port), []))
    yield found
    for server in found:
        server.shutdown()
        server.server_close()


@pytest.fixture
def gate() -> Iterator[Server]:
    """The server that the crawler may ask."""
    server = Server(("127.1.0.1", 0), [])
    yield server
    server.shutdown()
    server.server_close()


def crawl(urls: list[str], settings: dict[str, Any], env: dict[str, str] | None = None) -> list[tuple[str, int | str]]:
    """What each request came to, GET and HEAD of each URL."""
    quiet = {"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False}
    plan = json.dumps({"urls": urls, "settings": quiet | settings})
    ran = run_python("-c", CRAWLER, plan, env=clean_environment() | (env or {}))
    assert ran.code == 0, ran.err
    return [tuple(json.loads(line)) for line in ran.out.splitlines()]


@pytest.fixture
def guarded(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "hosts").write_text(NAMES)
    own = {"FEEDCRAWL_ALLOW_NETWORKS": "127.1.0.0/16", "FEEDCRAWL_HOSTS_FILE": str(tmp_path / "hosts")}
    handlers = dict.fromkeys(["http", "https"], "feedcrawl.crawl.download.LimitedDownloadHandler")
    hardened: dict[str, Any] = copy.deepcopy(dict(HARDENED))
    hardened["DOWNLOAD_HANDLERS"] |= handlers
    return hardened | own | {"ROBOTSTXT_OBEY": True, "CONCURRENT_REQUESTS": 64, "DNS_TIMEOUT": 10}


def targets(port: int) -> list[str]:
    """URLs that lead to the canary in one parser or another."""
    hosts = [f"http://{host}:{port}/" for host in LOOPBACK_HOSTS]
    names = [f"http://{name}.test:{port}/" for name in ("v4", "v6", "mapped", "mixed", "V4", "other")]
    odd = [
        f"http://example.org:{port}/",
        f"http://127.0.0.1:{port}\\@gate.test/",
        f"http://v4.test\\@127.0.0.1:{port}/",
        f"http://v4.test:{port}#@gate.test/",
        f"http://v4.test:{port}?@gate.test/",
        f"http:/\\127.0.0.1:{port}/",
        f"http:///127.0.0.1:{port}/",
        f"http:127.0.0.1:{port}/",
        f"http://127.0.0.1\t:{port}/",
        f" http://127.0.0.1:{port}/ ",
        f"http://127.0.0.1:0{port}/",
        f"https://127.0.0.1:{port}/",
        f"https://v4.test:{port}/",
        f"ftp://127.0.0.1:{port}/",
        f"gopher://127.0.0.1:{port}/",
        f"ws://127.0.0.1:{port}/",
        f"feed:http://127.0.0.1:{port}/",
        f"view-source:http://127.0.0.1:{port}/",
        "file:///etc/hostname",
        "data:text/html,x",
        "s3://bucket/key",
    ]
    return hosts + names + odd


def test_no_route_leads_to_the_canary(canaries: list[Server], gate: Server, guarded: dict[str, Any]) -> None:
    port = canaries[0].server_port
    direct = targets(port)
    gate.targets = [*direct, f"//127.0.0.1:{port}/", f"//v4.test:{port}/"]
    hops = [f"http://gate.test:{gate.server_port}/go/{number}" for number in range(len(gate.targets))]
    plain = [f"http://gate.test:{gate.server_port}/", f"http://127.1.0.1:{gate.server_port}/"]
    proxy = f"http://127.0.0.1:{port}"
    outcomes = crawl(direct + hops + plain, guarded, {"http_proxy": proxy, "https_proxy": proxy, "HTTP_PROXY": proxy})

    assert [server.calls for server in canaries] == [[] for _ in canaries]
    assert len(outcomes) == 2 * len(direct + hops + plain)
    assert {outcome for url, outcome in outcomes if url in plain} == {200}
    refusals = {"AddressRefused", "RedirectRefused", "UnsupportedURLSchemeError", "NotSupported", "ValueError"}
    assert [(url, outcome) for url, outcome in outcomes if url not in plain and outcome not in refusals] == []
    by_name = [outcome for url, outcome in outcomes if ".test" in url and url in direct]
    assert set(by_name) == {"AddressRefused"}


def test_the_resolver_needs_no_help(canaries: list[Server], gate: Server, guarded: dict[str, Any]) -> None:
    gate.targets = targets(canaries[0].server_port)
    hops = [f"http://gate.test:{gate.server_port}/go/{number}" for number in range(len(gate.targets))]
    guarded["DOWNLOADER_MIDDLEWARES"] |= {"feedcrawl.middlewares.addresses.AddressMiddleware": None}
    outcomes = crawl([*gate.targets, *hops], guarded)
    assert [server.calls for server in canaries] == [[] for _ in canaries]
    assert not {outcome for _, outcome in outcomes} & {200, "CannotResolveHostError", "DownloadConnectionRefusedError"}


def test_endless_headers_are_cut(gate: Server, guarded: dict[str, Any]) -> None:
    outcomes = crawl([f"http://gate.test:{gate.server_port}/headers"], guarded | {"ROBOTSTXT_OBEY": False})
    assert [outcome for _, outcome in outcomes] == ["DownloadFailedError"] * 2
    assert gate.sent_bytes < 20 << 20


def test_the_canary_sings_without_the_guard(canaries: list[Server], gate: Server) -> None:
    port = canaries[0].server_port
    gate.targets = [f"http://127.1:{port}/"]
    crawl([f"http://0x7f.1:{port}/", f"http://127.1.0.1:{gate.server_port}/go/0"], {})
    assert len(canaries[0].calls) == 4


@pytest.mark.parametrize(
    ("name", "value"), [("FEEDCRAWL_ALLOW_NETWORKS", "127.1.0.0/33"), ("FEEDCRAWL_HOSTS_FILE", os.devnull + "/hosts")]
)
def test_a_bad_rule_stops_the_start(gate: Server, guarded: dict[str, Any], name: str, value: str) -> None:
    with pytest.raises(AssertionError, match=name):
        crawl([f"http://127.1.0.1:{gate.server_port}/"], guarded | {name: value})
    assert gate.calls == []
