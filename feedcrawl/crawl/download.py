"""Scrapy's HTTP/1.1 download handler with a limit on header bytes, which also refuses a body with two lengths.

Every request leaves through these handlers, which therefore choose its outgoing route (`crawl/proxied.py` has proxies).

Scrapy limits bodies (DOWNLOAD_MAXSIZE), Twisted limits each header line (16 KiB), and neither limits the number of
lines: a server that sends short lines for ever fills the memory until the time-out. If two headers disagree about the
length of a body, Twisted believes one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTPClientParser,
)
from twisted.internet.error import ConnectBindError, DNSLookupError
from twisted.python.failure import Failure
from twisted.web._newclient import HEADER, STATUS, HTTPClientParser, ParseError
from twisted.web.http import _ChunkedTransferDecoder, _MalformedChunkedDataError, maxChunkSizeLineLength

from feedcrawl.crawl import garbage
from feedcrawl.crawl.certificates import NamedCertificates
from feedcrawl.crawl.kept import KeptConnections, KeptProtocol
from feedcrawl.crawl.proxied import ProxiedDownload
from feedcrawl.domain.http.framing import ambiguous
from feedcrawl.domain.urls import hostname
from feedcrawl.exceptions import RouteFailed
from feedcrawl.outgoing import routes
from feedcrawl.outgoing.addresses import guarded_addresses
from feedcrawl.rendering import renderer

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Request, Response
    from twisted.internet.defer import Deferred
    from twisted.web._newclient import Request as TwistedRequest
    from twisted.web.client import HTTPConnectionPool
    from twisted.web.iweb import IPolicyForHTTPS, IResponse

    from feedcrawl.domain.sites.outgoing import Route

MAX_HEADER_BYTES: Final = 64 << 10
MALFORMED: Final = "malformed"
"""Flag of a response whose chunks cannot be read, beside Scrapy's `dataloss`."""
_MALFORMED: Final = b"X-Feedcrawl-Malformed"
"""Carries the flag from Twisted's response to Scrapy's, which takes nothing but headers over."""


class PaddedChunks(_ChunkedTransferDecoder):
    """Accepts blanks and tabs around the size of a chunk, as some servers pad sizes to a fixed width."""

    def _dataReceived_CHUNK_LENGTH(self) -> bool:  # noqa: N802 - Twisted's interface
        end = self._buffer.find(b"\r\n", self._start)
        if 0 <= end < maxChunkSizeLineLength:
            size, separator, extension = bytes(self._buffer[:end]).partition(b";")
            self._buffer[:end] = size.strip(b" \t") + separator + extension
            self._start = 0
        return super()._dataReceived_CHUNK_LENGTH()


class StrictParser(_LenientHTTPClientParser):
    """Refuses a body whose length two headers state differently: raises ParseError, and the connection is closed.

    The connection is also closed if bytes follow the end of the body, or follow a response that has no body.
    """

    _transferDecoders = {**HTTPClientParser._transferDecoders, b"chunked": PaddedChunks}  # noqa: N815, RUF012, SLF001

    def allHeadersReceived(self) -> None:  # noqa: N802 - Twisted's interface
        """Check the headers that frame the body; in a response without a body they do not count."""
        code = self.response.code
        if code >= 200 and code not in self.NO_BODY_CODES and self.request.method != b"HEAD":
            lengths, codings = (
                self.connHeaders.getRawHeaders(name, []) for name in (b"Content-Length", b"Transfer-Encoding")
            )
            if (wrong := ambiguous(lengths, codings)) is not None:
                raise ParseError(wrong, b", ".join((*lengths, *codings)))  # type: ignore[no-untyped-call]
        super().allHeadersReceived()  # type: ignore[no-untyped-call]

    def rawDataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's interface
        """Mark the response if its chunks cannot be read: Scrapy's flag says that the connection was lost."""
        try:
            super().rawDataReceived(data)  # type: ignore[no-untyped-call]
        except _MalformedChunkedDataError:
            self.response.headers.setRawHeaders(_MALFORMED, [b"1"])
            raise

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: N802 - Twisted's interface
        """Refuse the response with an error; Twisted would close the connection without one."""
        raise ParseError(f"a header line of more than {self.MAX_LENGTH} bytes", line[:80])  # type: ignore[no-untyped-call]

    def _finished(self, rest: bytes) -> None:
        if rest:  # bytes after the end of the response: they are not the response to the next request
            self.request.persistent = False
        super()._finished(rest)  # type: ignore[no-untyped-call]


class LimitedProtocol(KeptProtocol):
    """Aborts the connection when status line and headers, informational responses included, exceed MAX_HEADER_BYTES.

    Responses are read by `StrictParser`.
    """

    _header_bytes = 0

    def request(self, request: TwistedRequest) -> Deferred[IResponse]:
        """Restart the count for each response of the connection."""
        self._header_bytes = 0
        answered = super().request(request)
        assert self._parser is not None
        self._parser.__class__ = StrictParser  # as Scrapy's protocol does: neither class has state of its own
        return answered

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's interface
        """Count the bytes before the body; the chunk in which the body begins is at most one read."""
        super().dataReceived(data)
        if self._parser is None or self._parser.state not in {STATUS, HEADER}:
            return
        self._header_bytes += len(data)
        if self._header_bytes > MAX_HEADER_BYTES and self.transport:
            error = ParseError(f"more than {MAX_HEADER_BYTES} bytes of headers", data[:80])  # type: ignore[no-untyped-call]
            self._giveUp(Failure(error))  # type: ignore[no-untyped-call]


class _LimitedFactory(_LenientHTTP11ClientFactory):
    def buildProtocol(self, addr: object) -> LimitedProtocol:  # noqa: ARG002, N802
        return LimitedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]


class LimitedHeaders:
    """Mixin that adds the header limit and the check of certificates to an HTTP11DownloadHandler, scrapy-playwright's
    included.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)  # type: ignore[call-arg]
        self._pool: HTTPConnectionPool
        self._contextFactory: IPolicyForHTTPS
        self._contextFactory = NamedCertificates(self._contextFactory)  # type: ignore[assignment]
        self._pool._factory = _LimitedFactory  # noqa: SLF001 - as Scrapy's handler itself does


class LimitedDownloadHandler(LimitedHeaders, HTTP11DownloadHandler):
    """Value for DOWNLOAD_HANDLERS, `http` and `https`. Requests with `meta["playwright"]` go to the browser.

    Sets `meta["outgoing"]`: the local address or the proxy by which the request left, if one is configured.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._of = crawler
        self._how: dict[str, Any] = {
            "contextFactory": self._contextFactory,
            "pool": self._pool,
            "maxsize": self._default_maxsize,
            "warnsize": self._default_warnsize,
            "fail_on_dataloss": self._fail_on_dataloss,
            "crawler": crawler,
            "tls_verbose_logging": self._tls_verbose_logging,
        }
        self._kept = KeptConnections(**self._how)
        self._sweep = garbage.sweep_of(self._pool._reactor)  # noqa: SLF001 - has the calls of the connections

    async def download_request(self, request: Request) -> Response:
        """The response, or the page after its scripts have run."""
        if not self._sweep.running:
            self._sweep.start(garbage.SWEEP_SEC, now=False)
        if request.meta.get("playwright"):
            return await renderer.of(self._of).download(request)
        return _marked(await self._routed(request))

    async def _routed(self, request: Request) -> Response:
        ways = routes.of(self._of)
        if not ways.configured:
            kept = None if self._bind_address else await self._kept.response(request)
            return await super().download_request(request) if kept is None else kept
        if request.meta.pop("outgoing", None) is not None:  # of the hop before: hops have a copy of its meta
            request.meta.pop("bindaddress", None)
        source = ways.source_of(routes.named(request), request.url)
        if not ways.of(source):
            return await super().download_request(request)
        host = hostname(request.url)
        addresses = None if ways.resolves(source) else await guarded_addresses(host)
        if addresses == ():
            raise DNSLookupError(f"{host} has no address")
        with ways.taken(source, host, addresses) as route:
            request.meta["outgoing"] = route.name
            return await self._by(route, request, addresses)

    async def _by(self, route: Route, request: Request, addresses: tuple[str, ...] | None) -> Response:
        if route.proxy is not None:
            download = ProxiedDownload(route.proxy, addresses, **self._how)
            return await download.response(request)
        request.meta["bindaddress"] = route.address
        try:
            return await super().download_request(request)
        except ConnectBindError as error:
            raise RouteFailed("bind_failed", f"{route.name} cannot be bound: {error}") from error

    async def close(self) -> None:
        """Close the handler, and the browser if one was started."""
        if self._sweep.running:
            self._sweep.stop()
        await super().close()
        await renderer.end(self._of)


def _marked(response: Response) -> Response:
    """The response, with a flag in place of the header that `StrictParser` has set."""
    if _MALFORMED not in response.headers:
        return response
    headers = response.headers.copy()
    del headers[_MALFORMED]
    flags = [*response.flags, MALFORMED] if "dataloss" in response.flags else response.flags
    return response.replace(headers=headers, flags=flags)
