from typing import Any

from scrapy import Request
from scrapy.http import Response

from feedcrawl.middlewares.outcome import OutcomeMiddleware


class Judge:
    def __init__(self) -> None:
        self.judged: list[Any] = []

    def answered(self, request: Request, response: Response) -> None:
        self.judged.append(response.status)

    def failed(self, request: Request, error: BaseException) -> None:
        self.judged.append(error)


URL = "http://a.test/"


def test_leased_requests_are_judged_and_go_on() -> None:
    judge = Judge()
    middleware = OutcomeMiddleware(judge)
    request, response, error = Request(URL, meta={"lease": object()}), Response(URL, status=503), ValueError()
    assert middleware.process_response(request, response) is response
    assert middleware.process_exception(request, error) is None
    assert judge.judged == [503, error]


def test_a_delivery_gives_no_signal_for_its_host() -> None:
    judge = Judge()
    response = Response(URL)
    assert (
        OutcomeMiddleware(judge).process_response(Request(URL, meta={"lease": 1, "delivery": 2}), response) is response
    )
    assert judge.judged == []


def test_requests_without_a_lease_are_not_judged() -> None:
    judge = Judge()
    middleware = OutcomeMiddleware(judge)
    response = Response(URL)
    assert middleware.process_response(Request(URL), response) is response
    assert middleware.process_exception(Request(URL), ValueError()) is None
    assert judge.judged == []
