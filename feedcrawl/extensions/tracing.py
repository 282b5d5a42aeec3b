"""Spans of a task's requests, and trace ids in log lines."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self, cast

from scrapy import signals
from scrapy.exceptions import NotConfigured

from feedcrawl import wiring
from feedcrawl.domain.secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from feedcrawl.telemetry.spans import Spans

SPAN = "request_span"
"""Key of `request.meta` for the span of a request that is being downloaded."""


class Tracing:
    """Requests without a lease (robots.txt, probes) have no task and no span. Publishers receive no trace header."""

    def __init__(self, tracer: Spans) -> None:
        self._tracer = tracer
        self._plain: Callable[..., logging.LogRecord] = logging.getLogRecordFactory()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Raises NotConfigured if FEEDCRAWL_TRACING is off."""
        if not wiring.of(crawler).config.tracing:
            raise NotConfigured
        extension = cls(cast("Spans", wiring.of(crawler).tracer))
        connect = crawler.signals.connect
        connect(extension.engine_started, signals.engine_started)
        connect(extension.engine_stopped, signals.engine_stopped)
        connect(extension.request_reached_downloader, signals.request_reached_downloader)
        connect(extension.response_downloaded, signals.response_downloaded)
        connect(extension.request_left_downloader, signals.request_left_downloader)
        return extension

    def engine_started(self) -> None:
        """Adds trace ids to log records."""
        logging.setLogRecordFactory(self._tracer.log_ids(self._plain))

    def engine_stopped(self) -> None:
        """Restores the former factory of log records."""
        logging.setLogRecordFactory(self._plain)

    def request_reached_downloader(self, request: Request) -> None:
        """Starts the span of a request; each redirect hop and each retry has its own."""
        if (lease := request.meta.get("lease")) is not None:
            attributes = {"http.request.method": request.method, "url.full": without_secrets(request.url)}
            request.meta[SPAN] = self._tracer.start("request", lease, attributes)

    def response_downloaded(self, response: Response, request: Request) -> None:
        """Sets status and body size on the span."""
        if (span := request.meta.get(SPAN)) is not None:
            attributes = {"http.response.status_code": response.status, "http.response.body.size": len(response.body)}
            span.set_attributes(attributes)

    def request_left_downloader(self, request: Request) -> None:
        """Ends the span of a request, failed or not; `fetch_id` identifies the exchange in the archive."""
        span = request.meta.pop(SPAN, None)
        if span is not None:
            span.set_attributes({"feedcrawl.fetch_id": request.meta.get("fetch_id", "")})
            span.end()
