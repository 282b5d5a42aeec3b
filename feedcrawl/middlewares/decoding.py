"""Undoes content codings within a limit (order 590, in place of Scrapy's HttpCompressionMiddleware)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy.exceptions import ResponseDataLossError
from scrapy.http import TextResponse
from scrapy.responsetypes import responsetypes

from feedcrawl.domain.http.codings import Undecodable, decode, head, is_plain, names
from feedcrawl.domain.http.encodings import names_no_text
from feedcrawl.exceptions import BodyRefused

if TYPE_CHECKING:
    from typing import Any, Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

__all__ = ["BodyRefused", "DecodingMiddleware"]

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
ERROR_BODY_BYTES = 64 << 10
SMALL_BYTES = 16 << 10
SMALL_DECODED_BYTES = 256 << 10


class DecodingMiddleware:
    """Hands on bodies as they were before compression, at most `meta["download_maxsize"]` or DOWNLOAD_MAXSIZE bytes.

    With `meta["first_bytes"]` so many bytes are enough, and what comes after them is cut.

    The body of an error or redirect is read to 64 KiB and is empty where that is not enough or it cannot be decoded:
    nobody needs it, and the status is the news.
    """

    def __init__(self, stats: StatsCollector, limit_bytes: int) -> None:
        self._stats = stats
        self._limit_bytes = limit_bytes

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads DOWNLOAD_MAXSIZE (bytes)."""
        assert crawler.stats
        return cls(crawler.stats, crawler.settings.getint("DOWNLOAD_MAXSIZE"))

    def process_request(self, request: Request) -> None:
        """Says what can be decoded, unless the request says something else."""
        request.headers.setdefault("Accept-Encoding", ACCEPT_ENCODING)

    async def process_response(self, request: Request, response: Response) -> Response:
        """The response with its body decoded.

        Raises BodyRefused (`bad_encoding`, `too_large`), and ResponseDataLossError for a body that ends too soon:
        Scrapy hands it on, so that it is archived, and here it ends (DOWNLOAD_FAIL_ON_DATALOSS is off).
        """
        if "dataloss" in response.flags:
            raise ResponseDataLossError(f"the connection ended before the body did: {request.url}")
        if request.method == "HEAD" or not response.body:
            return response
        limit = request.meta.get("download_maxsize", self._limit_bytes)
        codings = names(response.headers.getlist("Content-Encoding"))
        try:
            if (wanted := request.meta.get("first_bytes")) is not None and response.status < 300:
                body = await asyncio.to_thread(head, response.body, codings, limit_bytes=wanted)
            else:
                body = await _decoded(response, codings, limit)
        except Undecodable as refusal:
            if refusal.code == "dataloss":
                raise ResponseDataLossError(f"{refusal.detail}: {request.url}") from refusal
            raise BodyRefused(refusal.code, f"{refusal.detail}: {request.url}") from refusal
        if body is response.body:
            return _readable(response)
        self._stats.inc_value("httpcompression/response_bytes", len(body))
        self._stats.inc_value("httpcompression/response_count")
        return _readable(_with_body(response, body))


async def _decoded(response: Response, codings: tuple[str, ...], limit_bytes: int) -> bytes:
    if response.status < 300:
        return await _off_the_loop(response.body, codings, limit_bytes)
    try:
        return await _off_the_loop(response.body, codings, min(limit_bytes or ERROR_BODY_BYTES, ERROR_BODY_BYTES))
    except Undecodable:
        return b""


async def _off_the_loop(body: bytes, codings: tuple[str, ...], limit_bytes: int) -> bytes:
    """`decode`, in a thread unless what goes in and what comes out are small: to hand work over costs 0.1 ms."""
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
    """The response as if it had come so: its class, and the encoding of text, follow from the new body."""
    headers = response.headers.copy()
    headers.pop("Content-Encoding", None)
    kind = responsetypes.from_args(headers=headers, url=response.url, body=body)
    named: dict[str, Any] = {"encoding": None} if issubclass(kind, TextResponse) else {}
    return response.replace(cls=kind, body=body, headers=headers, **named)


def _readable(response: Response) -> Response:
    """The response, as UTF-8 where it declares what is no encoding of text.

    Handlers decode by `encodings`; other spiders may call `response.text`, which runs any codec of Python by its name.
    """
    if isinstance(response, TextResponse):
        declared = (response.headers.get("Content-Type") or b"").decode("latin-1")
        if names_no_text(response.body, declared):
            return response.replace(encoding="utf-8")
    return response
