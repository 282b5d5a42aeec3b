"""Raw capture: each response is on disk before it is parsed.

The middleware stands next to the downloader (order 880), where bodies are still content-encoded and header values are
as received. By then Scrapy has changed the case and order of header names, joined chunks and dropped the reason phrase;
the archive files state this.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from scrapy import signals
from scrapy.exceptions import NotConfigured

from feedcrawl import __version__, wiring
from feedcrawl.config import Config
from feedcrawl.domain.archive.warc import Captured, Exchange
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.disk.raw import RawStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

# Secrets of the operator, not of the publisher: more people read an archive than may use these secrets. The names of a
# private feed's headers come with the request (`meta["private"]`).
_SECRET = frozenset({b"authorization", b"cookie", b"proxy-authorization"})
# Scrapy's flags for an incomplete body that it passes on: cut off by the peer (if DOWNLOAD_FAIL_ON_DATALOSS is off;
# otherwise Scrapy raises and there is no body), or stopped by our StopDownload for another reason than its length.
# "partial" is not among them: it marks a body that ends with its connection, as in HTTP/1.0.
_TRUNCATED = {"dataloss": "disconnect", "download_stopped": "unspecified"}


class RawCaptureMiddleware:
    """Archives each request that has `meta["raw"]`: `{"feed_id": …}` or `{"uid": …}`. Its `previous` is the `source` of
    the last RawRef, so that an unchanged body is not written again.

    Sets `meta["fetch_id"]` (before the download) and `meta["raw_ref"]` (a RawRef, once the exchange is on disk). If the
    exchange cannot be written, the request fails with DiskUnavailable and nothing is parsed. FEEDCRAWL_RAW = False
    turns the archive off.
    """

    def __init__(
        self, store: RawStore, now: Callable[[], datetime], note: Callable[[BaseException], None] = lambda _: None
    ) -> None:
        """`note` is called with the error when the disk fails."""
        self.store = store
        self._now = now
        self._note = note

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """A middleware with its own store under FEEDCRAWL_DATA_DIR."""
        config = Config.from_settings(crawler.settings)
        if not config.raw:
            raise NotConfigured("FEEDCRAWL_RAW is off")
        store = RawStore(config.data_dir / "raw", software=f"feedcrawl/{__version__}")
        wired = wiring.of(crawler)
        middleware = cls(store, wired.now, lambda error: wired.readiness.note(error))  # noqa: PLW0108 - no server before that
        # This signal is sent after spider_closed, so that pipelines and other spider_closed handlers still find the
        # store open.
        crawler.signals.connect(middleware.engine_stopped, signals.engine_stopped)
        return middleware

    def process_request(self, request: Request) -> None:
        """Sets a new fetch id for each hop: a redirect or retry has a copy of the previous hop's meta."""
        if "raw" in request.meta:
            request.meta["fetch_id"] = str(uuid4())
            request.meta.pop("raw_ref", None)

    async def process_response(self, request: Request, response: Response) -> Response:
        """The response unchanged, once it is archived."""
        if "raw" in request.meta:
            written = self.store.append_async(exchange(request, response, self._now()))
            try:
                # A small exchange is already on disk, and awaiting its future would cost a turn of the event loop.
                request.meta["raw_ref"] = written.result() if written.done() else await asyncio.wrap_future(written)
            except DiskUnavailable as error:
                self._note(error)
                raise
        return response

    def engine_stopped(self) -> None:
        """Closes the store."""
        self.store.close()


def exchange(request: Request, response: Response, fetched_at: datetime) -> Exchange:
    """The archive's record of a download."""
    owner = request.meta["raw"]
    previous = owner.get("previous")
    secret = _SECRET | request.meta.get("private", frozenset())
    return Exchange(
        fetch_id=request.meta["fetch_id"],
        url=request.url,
        fetched_at=fetched_at,
        status=response.status,
        method=request.method,
        request_headers=[(name, b"(left out)" if name.lower() in secret else value) for name, value in _pairs(request)],
        response_headers=_pairs(response),
        body=response.body,
        feed_id=owner.get("feed_id"),
        uid=owner.get("uid"),
        truncated=_truncated(request, response),
        outgoing=request.meta.get("outgoing"),
        ip=str(response.ip_address) if response.ip_address else None,
        previous=Captured.from_json(previous) if previous else None,
    )


def _truncated(request: Request, response: Response) -> str | None:
    """Why the body is incomplete (WARC 1.1 section 5.12); None if it is complete."""
    if "over_limit" in request.meta:
        return "length"
    return next((_TRUNCATED[flag] for flag in response.flags if flag in _TRUNCATED), None)


def _pairs(message: Request | Response) -> list[tuple[bytes, bytes]]:
    # dict.items: the names in Headers are normalized already, and its own `items` does that again for each.
    return [(name, value) for name, values in dict.items(message.headers) for value in values]
