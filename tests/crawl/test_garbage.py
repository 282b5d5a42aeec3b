import asyncio
from typing import Any

import pytest
import twisted.internet
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.spiders import Spider
from twisted.internet.base import ReactorBase

from feedcrawl.crawl.download import LimitedDownloadHandler
from feedcrawl.crawl.garbage import SWEEP_SEC


class Timers(ReactorBase):
    """The delayed calls of Twisted's reactors, with a time of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def installWaker(self) -> None:
        pass

    def seconds(self) -> float:
        return self.now

    def pending(self) -> list[Any]:
        """The calls that are kept, cancelled ones included."""
        return [*self._pendingTimedCalls, *self._newTimedCalls]


def test_cancelled_calls_of_twisted_are_dropped_while_requests_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    async def routed(handler: LimitedDownloadHandler, request: Request) -> Response:
        return Response(request.url)

    reactor = Timers()
    monkeypatch.setattr(twisted.internet, "reactor", reactor, raising=False)
    monkeypatch.setattr(LimitedDownloadHandler, "_routed", routed)
    handler = LimitedDownloadHandler(Crawler(Spider, {"TWISTED_REACTOR_ENABLED": True}))
    for _ in range(2):
        asyncio.run(handler.download_request(Request("http://a.test/")))
    calls = [reactor.callLater(240, print) for _ in range(100)]
    reactor.runUntilCurrent()
    for call in calls:
        call.cancel()
    assert len(reactor.pending()) == 101
    reactor.now = SWEEP_SEC
    reactor.runUntilCurrent()
    assert [call.time for call in reactor.pending()] == [2 * SWEEP_SEC]
    asyncio.run(handler.close())
    assert reactor.getDelayedCalls() == []
