import asyncio
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider, signals
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from feedcrawl.crawl.downloader import DirectDownloader, InTurnScraper

URL = "http://a.test/"


class Downloads:
    """A downloader whose handler answers when the test says so, and the signals that it sends."""

    def __init__(self, **settings: Any) -> None:
        none = dict.fromkeys(("http", "https", "ftp", "s3", "file", "data"))
        crawler: Any = get_crawler(Spider, {"DOWNLOAD_HANDLERS": none, **settings})
        crawler.spider = Spider("any")
        self.downloader = DirectDownloader(crawler)
        self.downloader.handlers = SimpleNamespace(download_request_async=self._respond)  # type: ignore[assignment]
        self.answers = asyncio.Event()
        self.begun: list[Request] = []
        self.sent: list[str] = []
        for name in ("request_reached_downloader", "response_downloaded", "request_left_downloader"):
            crawler.signals.connect(lambda name=name: self.sent.append(name), getattr(signals, name), weak=False)

    async def _respond(self, request: Request) -> Response:
        self.begun.append(request)
        await self.answers.wait()
        return Response(request.url, request=request)

    def ask(self) -> asyncio.Future[Any]:
        """The result of a request."""
        return self.downloader.fetch(Request(URL)).asFuture(asyncio.get_running_loop())


async def turns(count: int = 10) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.filterwarnings("ignore::scrapy.exceptions.ScrapyDeprecationWarning")
@pytest.mark.parametrize(("settings", "begun"), [({}, 2), ({"CONCURRENT_REQUESTS_PER_DOMAIN": 1}, 1)])
def test_a_request_begins_at_once_if_its_slot_has_room(settings: dict[str, Any], begun: int) -> None:
    async def main() -> None:
        downloads = Downloads(**settings)
        asked = [downloads.ask(), downloads.ask()]
        assert len(downloads.downloader.active) == 2
        await turns()
        assert len(downloads.begun) == begun
        downloads.answers.set()
        responses = await asyncio.gather(*asked)
        assert [each.status for each in responses] == [200, 200]
        assert sorted(downloads.sent) == sorted(2 * [*dict.fromkeys(downloads.sent)])
        assert downloads.sent[-1] == "request_left_downloader"
        (slot,) = downloads.downloader.slots.values()
        assert [*slot.active, *slot.transferring, *slot.queue, *downloads.downloader.active] == []
        downloads.downloader.close()

    asyncio.run(main())


async def of_a_callback() -> AsyncIterator[str]:
    yield "a"
    yield "b"
    raise ValueError("c")


def of_an_errback() -> Iterator[str]:
    yield "a"
    yield "b"
    raise ValueError("c")


@pytest.mark.parametrize("made", [of_a_callback, of_an_errback])
def test_items_are_passed_on_in_turn(made: Any) -> None:
    seen: list[Any] = []

    async def process(item: str, response: Response) -> None:
        seen.append(f"{item} begins")
        await asyncio.sleep(0)
        seen.append(f"{item} ends")

    scraper: Any = InTurnScraper.__new__(InTurnScraper)
    scraper.concurrent_items = 1
    scraper._process_spidermw_output_async = process
    scraper.handle_spider_error = lambda failure, *_: seen.append(failure.value)
    asyncio.run(scraper.handle_spider_output_async(made(), Request(URL), Response(URL)))
    assert seen[:-1] == ["a begins", "a ends", "b begins", "b ends"]
    assert isinstance(seen[-1], ValueError)
