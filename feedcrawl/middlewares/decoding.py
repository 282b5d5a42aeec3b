"""Removes content codings within a size limit (order 590, in place of Scrapy's HttpCompressionMiddleware)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import ResponseDataLossError, StopDownload
from scrapy.http import TextResponse
from scrapy.responsetypes import responsetypes

from feedcrawl.crawl.download import MALFORMED
from feedcrawl.domain.http.codings import Undecodable, decode, head, is_plain, names
from feedcrawl.domain.http.encodings import names_no_text
from feedcrawl.domain.http.framing import is_complete, is_part
from feedcrawl.exceptions import BodyRefused

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
ERROR_BODY_BYTES = 64 << 10
SMALL_BYTES = 16 << 10
SMALL_DECODED_BYTES = 256 << 10


class DecodingMiddleware:
    """Decompresses response bodies, to at most `meta["download_maxsize"]` or DOWNLOAD_MAXSIZE bytes.

    A download ends at that many bytes as well, or at the announcement of more. The response then has the bytes received
    so far, so that they are archived, and `meta["over_limit"]` has the reason; Scrapy's own limit would leave no bytes.
    `meta["wire_bytes"]` counts the bytes of the body as received. If a body is refused, `meta["http_status"]` has the
    status of its response.

    With `meta["first_bytes"]` the decoded body is cut after that many bytes.

    The body of an error or redirect is decoded to at most 64 KiB; it becomes empty if it is larger or cannot be
    decoded, because only the status of such a response is used.
    """

    def __init__(self, stats: StatsCollector, limit_bytes: int) -> None:
        self._stats = stats
        self._limit_bytes = limit_bytes

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads DOWNLOAD_MAXSIZE (bytes)."""
        assert crawler.stats
        middleware = cls(crawler.stats, crawler.settings.getint("DOWNLOAD_MAXSIZE"))
        crawler.signals.connect(middleware.headers_received, signals.headers_received)
        crawler.signals.connect(middleware.bytes_received, signals.bytes_received)
        return middleware

    def headers_received(self, body_length: int | str, request: Request) -> None:
        """Ends a download whose body is announced to be over the limit."""
        request.meta.pop("over_limit", None)  # of the hop before: hops have a copy of its meta
        request.meta["wire_bytes"] = 0
        limit = self._limit_of(request)
        if limit and isinstance(body_length, int) and body_length > limit and request.method != "HEAD":
            request.meta["over_limit"] = f"{body_length} bytes are announced, {limit} are read"
            raise StopDownload(fail=False)

    def bytes_received(self, data: bytes, request: Request) -> None:
        """Ends a download at its limit."""
        limit, got = self._limit_of(request), request.meta.get("wire_bytes", 0) + len(data)
        request.meta["wire_bytes"] = got
        if limit and got > limit:
            request.meta["over_limit"] = f"more than {limit} bytes"
            raise StopDownload(fail=False)

    def process_request(self, request: Request) -> None:
        """Sets Accept-Encoding to the codings that can be decoded, unless the request has that header."""
        request.headers.setdefault("Accept-Encoding", ACCEPT_ENCODING)

    async def process_response(self, request: Request, response: Response) -> Response:
        """The response with its body decoded.

        Raises BodyRefused (`bad_encoding`, `too_large`), and ResponseDataLossError for an incomplete body: Scrapy
        passes incomplete bodies on (DOWNLOAD_FAIL_ON_DATALOSS is off) so that they are archived, and this middleware
        rejects them, unless the document in the body is complete. Its response keeps, or gets, the flag `dataloss`.
        A part of a document (206), which no request asks for, is an incomplete body too.
        """
        if request.method == "HEAD":
            return response
        request.meta["http_status"] = response.status
        decoded = await self._decoded(request, response)
        del request.meta["http_status"]
        return decoded

    async def _decoded(self, request: Request, response: Response) -> Response:
        limit = self._limit_of(request)
        codings = names(response.headers.getlist("Content-Encoding"))
        if (over := request.meta.get("over_limit")) is not None:
            if response.status >= 300:
                return _with_body(response, b"")
            raise BodyRefused("too_large", f"{over}: {request.url}")
        if "dataloss" in response.flags:
            return await _complete(response, codings, limit, f"the connection ended before the body did: {request.url}")
        if is_part(response.status, (response.headers.get("Content-Range") or b"").decode("latin-1")):
            return await _complete(response, codings, limit, f"a part of the document, unasked: {request.url}")
        if not response.body:
            return response
        try:
            if (first_bytes := request.meta.get("first_bytes")) is not None and response.status < 300:
                body = await asyncio.to_thread(head, response.body, codings, limit_bytes=first_bytes)
            else:
                body = await _decoded(response, codings, limit)
        except Undecodable as refusal:
            if refusal.code == "dataloss":
                return await _complete(response, codings, limit, f"{refusal.detail}: {request.url}")
            raise BodyRefused(refusal.code, f"{refusal.detail}: {request.url}") from refusal
        if body is response.body:
            return _readable(response)
        self._stats.inc_value("httpcompression/response_bytes", len(body))
        self._stats.inc_value("httpcompression/response_count")
        return _readable(_with_body(response, body))

    def _limit_of(self, request: Request) -> int:
        """The most bytes of a body, before and after decoding; 0 if there is no limit."""
        limit: int = request.meta.get("download_maxsize", self._limit_bytes)
        return limit


async def _complete(response: Response, codings: tuple[str, ...], limit_bytes: int, fault: str) -> Response:
    """The response with the document of an incomplete body, decoded as far as possible, if the document is complete.

    Some servers never send the last chunk, the end of the gzip data, or as many bytes as they announced.
    """
    try:
        body = await asyncio.to_thread(head, response.body, codings, limit_bytes=limit_bytes)
        complete = response.status < 300 and await asyncio.to_thread(is_complete, body)
    except Undecodable:
        complete = False
    if not complete and MALFORMED in response.flags:
        raise BodyRefused("protocol", f"the chunks of the response cannot be read: {response.url}")
    if not complete:
        raise ResponseDataLossError(fault)
    flags = list(dict.fromkeys((*response.flags, "dataloss")))
    return _readable(_with_body(response, body)).replace(flags=flags)


async def _decoded(response: Response, codings: tuple[str, ...], limit_bytes: int) -> bytes:
    if response.status < 300:
        return await _off_the_loop(response.body, codings, limit_bytes)
    try:
        return await _off_the_loop(response.body, codings, min(limit_bytes or ERROR_BODY_BYTES, ERROR_BODY_BYTES))
    except Undecodable:
        return b""


async def _off_the_loop(body: bytes, codings: tuple[str, ...], limit_bytes: int) -> bytes:
    """Runs `decode`, in a thread unless the body is small before and after decoding: a thread costs 0.1 ms."""
    if is_plain(body, codings):
        return body
    if len(body) <= SMALL_BYTES:
        try:
            return decode(body, codings, limit_bytes=min(limit_bytes or SMALL_DECODED_BYTES, SMALL_DECODED_BYTES))
        except Undecodable as refusal:
            if refusal.code != "too_large":
                raise
    return await asyncio.to_thread(decode, body, codings, limit_bytes=limit_bytes)


def _with_body(response: Response, body: bytes) -> Response:
    """The response with the decoded body; its class and its text encoding are determined from that body."""
    headers = response.headers.copy()
    headers.pop("Content-Encoding", None)
    kind = responsetypes.from_args(headers=headers, url=response.url, body=body)
    named: dict[str, object] = {"encoding": None} if issubclass(kind, TextResponse) else {}
    return response.replace(cls=kind, body=body, headers=headers, **named)


def _readable(response: Response) -> Response:
    """The response; read as UTF-8 if it declares a codec that is not a text encoding.

    Handlers decode text with `encodings`; other spiders may call `response.text`, which runs any Python codec of the
    declared name.
    """
    if isinstance(response, TextResponse):
        declared = (response.headers.get("Content-Type") or b"").decode("latin-1")
        if names_no_text(response.body, declared):
            return response.replace(encoding="utf-8")
    return response
