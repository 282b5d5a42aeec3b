"""The Prometheus endpoint of a worker, if FEEDCRAWL_METRICS_PORT is set."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Self

from prometheus_client import CollectorRegistry
from scrapy import signals
from scrapy.exceptions import NotConfigured

from feedcrawl import wiring
from feedcrawl.items import FeedPoll
from feedcrawl.parsing import Failed
from feedcrawl.services.operations.fleet import Fleet
from feedcrawl.services.subscriptions.polling import interval_ratio
from feedcrawl.telemetry import names
from feedcrawl.telemetry.metrics import Endpoint, Histograms, StatsCounters, describe_process

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from feedcrawl.parsing import Done

logger = logging.getLogger(__name__)


class Metrics:
    """Serves the metrics. Each scrape runs in a thread of the endpoint and reads Redis there."""

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.stats is not None
        self._stats = crawler.stats
        self._wired = wiring.of(crawler)
        self._registry = CollectorRegistry()
        self._histograms = Histograms(self._registry)
        self._registry.register(StatsCounters(crawler.stats.get_stats))
        self._registry.register(Fleet(self._wired.fleet_stores))
        describe_process(self._registry)
        self._endpoint: Endpoint | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Raises NotConfigured if no port is set."""
        wired = wiring.of(crawler)
        if not wired.config.metrics_port:
            raise NotConfigured
        extension = cls(crawler)
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signals.spider_closed)
        return extension

    def spider_opened(self, spider: Spider) -> None:
        """Opens the port, for spiders that use the frontier; if that fails the crawl goes on without metrics."""
        if not hasattr(spider, "lanes"):
            return
        host, port = self._wired.config.metrics_host, self._wired.config.metrics_port
        try:
            self._endpoint = Endpoint(self._registry, host, port)
        except OSError as error:
            detail = f"{error}: each worker of a machine needs a FEEDCRAWL_METRICS_PORT of its own"
            logger.error("no_metrics", extra={"host": host, "port": port, "detail": detail})  # noqa: TRY400
            return
        connect = spider.crawler.signals.connect
        connect(self.request_reached_downloader, signals.request_reached_downloader)
        connect(self.request_left_downloader, signals.request_left_downloader)
        connect(self.response_downloaded, signals.response_downloaded)
        connect(self.item_scraped, signals.item_scraped)
        self._wired.parsers.on_answer = self.parsed

    def spider_closed(self) -> None:
        """Closes the port."""
        if self._endpoint is not None:
            self._endpoint.close()

    def request_reached_downloader(self, request: Request) -> None:
        """Stores the start time of the download."""
        request.meta["reached_at"] = time.monotonic()

    def request_left_downloader(self, request: Request) -> None:
        """Observes the duration of the download, failed or not."""
        took = time.monotonic() - request.meta.pop("reached_at", time.monotonic())
        self._histograms.observe(names.FETCH_SECONDS, took, _kind(request))

    def response_downloaded(self, response: Response, request: Request) -> None:
        """Observes the size of the body, as received (compressed)."""
        self._histograms.observe(names.CONTENT_BYTES, len(response.body), _kind(request))

    def item_scraped(self, item: object) -> None:
        """Observes how closely a poll kept its chosen interval."""
        if not isinstance(item, FeedPoll) or item.requested.is_archive or item.requested.is_delivery:
            return
        ratio = interval_ratio(item.feed, item.received.at)
        if ratio is not None:
            self._histograms.observe(names.INTERVAL_RATIO, ratio)

    def parsed(self, function: str, outcome: Done[object] | Failed) -> None:
        """Observes the duration of a child process's parse, and counts its failure."""
        self._histograms.observe(names.PARSE_SECONDS, outcome.seconds, function)
        if isinstance(outcome, Failed):
            self._stats.inc_value(f"feedcrawl/parse_failed/{outcome.code}")


def _kind(request: Request) -> str:
    """The kind of the task; `other` for requests without a task (robots.txt, probes)."""
    return request.meta["lease"].task.kind if "lease" in request.meta else "other"
