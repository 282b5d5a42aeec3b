import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from scrapy import Request
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.crawler import Crawler
from scrapy.exceptions import _InvalidOutput
from scrapy.http import Response
from scrapy.spiders import Spider

from feedcrawl.crawl.chains.downloads import PlainMiddlewares

URL = "http://a.test/"


def later(value: object) -> Callable[..., Any]:
    async def result(**_: object) -> object:
        await asyncio.sleep(0)
        return value

    return result


def now(value: object) -> Callable[..., Any]:
    return lambda **_: value


def failing(**_: object) -> None:
    raise ValueError("failed")


class Middleware:
    def __init__(self, **methods: Callable[..., Any]) -> None:
        for name, method in methods.items():
            setattr(self, name, method)


def crawler() -> Crawler:
    made = Crawler(Spider)
    made.spider = Spider("x")
    return made


async def sent(request: Request) -> Response:
    return Response(f"{URL}sent", request=request)


ANSWER = Response(f"{URL}own")
CASES: list[tuple[dict[str, Callable[..., Any]], ...]] = [
    (),
    ({"process_request": now(None)}, {"process_request": later(None)}),
    ({"process_request": now(ANSWER)}, {"process_request": failing}),
    ({"process_request": later(ANSWER)},),
    ({"process_request": now(Request(f"{URL}other"))},),
    ({"process_request": now("text")},),
    ({"process_request": failing}, {"process_exception": now(ANSWER)}),
    ({"process_request": failing},),
    ({"process_response": later(ANSWER)}, {"process_response": now(ANSWER)}),
    ({"process_response": now(Request(f"{URL}other"))},),
    ({"process_response": failing}, {"process_response": later(Request(f"{URL}other"))}),
    ({"process_response": now(None)},),
    ({"process_response": later(3)},),
]


@pytest.mark.parametrize("methods", CASES)
def test_the_chain_of_middlewares_has_the_result_of_scrapys(methods: tuple[dict[str, Callable[..., Any]], ...]) -> None:
    def through(kind: type[DownloaderMiddlewareManager]) -> object:
        manager = kind(*(Middleware(**each) for each in methods), crawler=crawler())
        try:
            return asyncio.run(manager.download_async(sent, Request(URL))).url
        except (ValueError, _InvalidOutput) as error:
            return type(error), str(error).partition(", got")[0]

    assert through(PlainMiddlewares) == through(DownloaderMiddlewareManager)
