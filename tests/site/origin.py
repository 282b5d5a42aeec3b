"""A scripted HTTP origin on loopback: many sites, each on an address of its own, all on one port.

A test names sites, scripts the responses of their paths, and reads the received requests in the ledger. Responses are
written to the socket byte by byte, since the interesting ones are those that no HTTP library would send.

    site = origin.site("site-1.test")
    site.serve("/feed", document(rss(items), etag='"1"'), busy(retry_after="2"))
    … crawl site.url("/feed") …
    assert origin.ledger.conditional_share(site.name) == 0.5
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import ipaddress
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

import brotli
import zstandard
from ledger import Ledger, Request

T = TypeVar("T")

CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda body: gzip.compress(body, mtime=0),
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": lambda body: zstandard.ZstdCompressor().compress(body),
}
BODILESS = {204, 304}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer. An ETag or Last-Modified among the headers turns a matching conditional request into a 304.

    `codings` are applied in their order ("gzip", "gzip, br"); `cut_bytes` sends so much of the body and closes;
    `wait_sec` passes before the first byte and `drip_sec` before each piece; `raw` is sent in place of everything
    else, then the connection is closed (`b""` closes it without a word).
    """

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    codings: str = ""
    chunked: bool = False
    piece_bytes: int = 65_536
    cut_bytes: int | None = None
    wait_sec: float = 0.0
    drip_sec: float = 0.0
    raw: bytes | None = None


Script = Answer | Callable[[Request], Answer]


def document(
    body: bytes | str,
    *,
    content_type: str = "application/xml",
    etag: str | None = None,
    modified: str | None = None,
    **how: Any,
) -> Answer:
    """A 200 with validators where they are given; `how` are fields of `Answer`."""
    named = {"Content-Type": content_type, "ETag": etag, "Last-Modified": modified}
    headers = tuple((name, value) for name, value in named.items() if value is not None)
    body = body.encode() if isinstance(body, str) else body
    return Answer(body=body, headers=headers + tuple(how.pop("headers", ())), **how)


def html(body: bytes | str, **how: Any) -> Answer:
    return document(body, content_type="text/html; charset=utf-8", **how)


def redirect(to: str, status: int = 301) -> Answer:
    return Answer(status=status, headers=(("Location", to),))


def busy(retry_after: str | None = None, status: int = 429) -> Answer:
    return Answer(status=status, headers=(("Retry-After", retry_after),) if retry_after else ())


def failure(status: int) -> Answer:
    return Answer(status=status, body=b"<h1>no</h1>", headers=(("Content-Type", "text/html"),))


def dropped() -> Answer:
    """The connection is closed without an answer."""
    return Answer(raw=b"")


def hanging(sec: float = 3600.0) -> Answer:
    """Nothing comes until the client gives up."""
    return Answer(wait_sec=sec, raw=b"")


@dataclass(slots=True)
class Site:
    """One host name of the origin and what its paths answer."""

    name: str
    address: str
    port: int
    scripts: dict[str, list[Script]] = field(default_factory=dict)

    def url(self, target: str = "/") -> str:
        return f"http://{self.name}:{self.port}{target}"

    def serve(self, target: str, *answers: Script) -> str:
        """Answer the requests for a target in this order, the last one for ever. Answers with the target's URL."""
        self.scripts[target] = list(answers)
        return self.url(target)

    def next_answer(self, request: Request) -> Answer:
        """What the script says now, by the whole target or else by its path; 404 where it says nothing."""
        queue = self.scripts.get(request.target) or self.scripts.get(request.path)
        if not queue:
            return failure(404)
        script = queue.pop(0) if len(queue) > 1 else queue[0]
        return script if isinstance(script, Answer) else script(request)


class Origin:
    """The sites and the ledger of one test."""

    def __init__(self, server: OriginServer) -> None:
        self.server = server
        self.ledger = Ledger()
        self.sites: dict[str, Site] = {}
        self.busy_with: defaultdict[str, set[asyncio.StreamReader]] = defaultdict(set)
        self.hosts_file: Path | None = None

    def site(self, name: str | None = None, *, address: str | None = None) -> Site:
        """The site of that name, made and listened for at its first mention; without a name its address names it.

        Addresses are 127.1.0.1, 127.1.0.2 … in the order of mention, unless one is given.
        """
        if name is not None and name in self.sites:
            return self.sites[name]
        number = len(self.sites)
        address = address or f"127.1.{number // 250}.{number % 250 + 1}"
        site = Site(name or address, address, self.server.port)
        self.sites[site.name] = site
        self.server.listen(address)
        self.write_hosts()
        return site

    def down(self, site: Site) -> None:
        """From now on connections to the site's address are refused."""
        self.server.stop_listening(site.address)

    def up(self, site: Site) -> None:
        self.server.listen(site.address)

    def write_hosts(self) -> None:
        """Write hosts(5): an address and a name per line."""
        if self.hosts_file:
            lines = [f"{site.address} {site.name}\n" for site in self.sites.values() if site.name != site.address]
            self.hosts_file.write_text("".join(lines), encoding="utf-8")

    def requested_site(self, host: str, address: str) -> Site:
        """The site that a Host header names; failing that the one at the address, or one without any paths."""
        at_address = (site for site in self.sites.values() if site.address == address)
        return self.sites.get(host) or next(at_address, None) or Site(host or address, address, self.server.port)


class OriginServer:
    """The server thread; `fresh()` gives each test sites and a ledger of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="origin", daemon=True)
        self.listeners: dict[str, asyncio.Server] = {}
        self.connections: set[asyncio.Task[None]] = set()
        self.port = 0
        self.thread.start()
        self.listen("127.0.0.1")
        self.origin = Origin(self)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout=60)

    def listen(self, address: str) -> None:
        """Listen on a loopback address, at the one port that the first of them chose."""
        if address not in self.listeners:
            self.run(self._listen(address))

    async def _listen(self, address: str) -> None:
        assert ipaddress.ip_address(address).is_loopback, f"an origin listens on loopback only, not on {address}"
        listener = await asyncio.start_server(self._connected, address, self.port, backlog=1024, limit=1 << 20)
        self.port = self.port or listener.sockets[0].getsockname()[1]
        self.listeners[address] = listener

    def stop_listening(self, address: str) -> None:
        self.run(self._stop_listening(address))

    async def _stop_listening(self, address: str) -> None:
        self.listeners.pop(address).close()

    def fresh(self) -> Origin:
        """A new origin; connections and addresses of the last one are closed."""
        self.run(self._clear(except_for="127.0.0.1"))
        self.origin = Origin(self)
        return self.origin

    async def _clear(self, except_for: str | None = None) -> None:
        for address in [address for address in self.listeners if address != except_for]:
            self.listeners.pop(address).close()
        for task in self.connections:
            task.cancel()
        await asyncio.gather(*self.connections, return_exceptions=True)

    def close(self) -> None:
        self.run(self._clear())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(timeout=60)
        self.loop.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.connections.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await exchange(self.origin, reader, writer):
                    pass
        finally:
            writer.transport.abort() if writer.transport.get_write_buffer_size() else writer.close()
            self.connections.discard(task)


async def exchange(origin: Origin, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Read one request and answer it. Answers whether the connection stays open."""
    request = await read_request(origin, reader, writer)
    busy_with = origin.busy_with[request.host]
    busy_with.add(reader)
    request.open_on_host = sum(not each.at_eof() for each in busy_with)
    origin.ledger.requests.append(request)
    try:
        site = origin.requested_site(request.host, request.address)
        return await send(site.next_answer(request), request, writer)
    finally:
        busy_with.discard(reader)
        request.answered = time.monotonic()


async def read_request(origin: Origin, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request:
    first = await reader.readexactly(1)
    if first == b"\x16":  # a handshake of TLS, of which a server that speaks http alone knows nothing
        raise asyncio.IncompleteReadError(first, None)
    head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    received = time.monotonic()
    line, *rest = head.rstrip("\r\n").split("\r\n")
    method, target, _version = line.split(" ", 2)
    headers = tuple((name, value.strip()) for name, _, value in (header.partition(":") for header in rest))
    named = {name.lower(): value for name, value in headers}
    address = writer.get_extra_info("sockname")[0]
    return Request(
        host=origin.requested_site(named.get("host", "").rpartition(":")[0] or named.get("host", ""), address).name,
        address=address,
        method=method,
        target=target,
        headers=headers,
        body=await reader.readexactly(int(named.get("content-length", 0))),
        client_port=writer.get_extra_info("peername")[1],
        client_address=writer.get_extra_info("peername")[0],
        received=received,
        open_on_host=0,
    )


async def send(answer: Answer, request: Request, writer: asyncio.StreamWriter) -> bool:
    if answer.wait_sec:
        await asyncio.sleep(answer.wait_sec)
    if answer.raw is not None:
        for piece in pieces(answer, answer.raw):
            await asyncio.sleep(answer.drip_sec)
            writer.write(piece)
            await writer.drain()
        return False
    request.status = 304 if matches(answer, request) else answer.status
    body = b"" if request.status in BODILESS else encoded(answer)
    writer.write(head_of(answer, request, len(body)))
    if request.method != "HEAD":
        for piece in pieces(answer, body):
            await asyncio.sleep(answer.drip_sec)
            writer.write(piece)
            await writer.drain()
    await writer.drain()
    return answer.cut_bytes is None and (request.header("Connection") or "").lower() != "close"


def matches(answer: Answer, request: Request) -> bool:
    """Whether a GET's validators are the answer's own; If-None-Match outranks If-Modified-Since (RFC 9110 13.2.2)."""
    own = {name.lower(): value for name, value in answer.headers}
    requested_tag, requested_date = request.header("If-None-Match"), request.header("If-Modified-Since")
    if answer.status != 200 or request.method not in {"GET", "HEAD"}:
        return False
    if requested_tag is not None:
        tags = {tag.strip().removeprefix("W/") for tag in requested_tag.split(",")}
        return "etag" in own and own["etag"].removeprefix("W/") in tags
    if requested_date is None or "last-modified" not in own:
        return False
    with contextlib.suppress(ValueError):
        return parsedate_to_datetime(own["last-modified"]) <= parsedate_to_datetime(requested_date)
    return own["last-modified"] == requested_date


def encoded(answer: Answer) -> bytes:
    body = answer.body
    for coding in filter(None, answer.codings.replace(",", " ").split()):
        body = CODINGS[coding](body)
    return body


def head_of(answer: Answer, request: Request, length: int) -> bytes:
    """Status line and headers; those that the answer brings replace the ones made here."""
    status = request.status or answer.status
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else "Unknown"
    made = {"Connection": "close"} if answer.cut_bytes is not None else {}
    if answer.codings and length:
        made["Content-Encoding"] = answer.codings
    if status not in BODILESS:
        made |= {"Transfer-Encoding": "chunked"} if answer.chunked else {"Content-Length": str(length)}
    brought = {name.lower() for name, _ in answer.headers}
    headers = [*answer.headers, *((name, value) for name, value in made.items() if name.lower() not in brought)]
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def pieces(answer: Answer, body: bytes) -> list[bytes]:
    """The body as it is written, chunk framing included; a body that is cut lacks its last chunk too."""
    sent = body[: answer.cut_bytes]
    parts = [sent[start : start + answer.piece_bytes] for start in range(0, len(sent), answer.piece_bytes)]
    if not answer.chunked or answer.status in BODILESS:
        return parts
    framed = [b"%x\r\n%b\r\n" % (len(part), part) for part in parts]
    return framed if answer.cut_bytes is not None else [*framed, b"0\r\n\r\n"]
