from types import SimpleNamespace
from typing import Any

import pytest
import redis
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.statscollectors import MemoryStatsCollector
from twisted.internet import error as net
from twisted.python.failure import Failure

from feedcrawl import exceptions as ours
from feedcrawl import wiring
from feedcrawl.crawl.plain_pages import PlainPages
from feedcrawl.crawl.verdict import Verdicts
from feedcrawl.domain.frontier.tasks import Lease, Task
from feedcrawl.domain.http.redirects import Hop
from feedcrawl.settings import from_environment
from feedcrawl.store.redis.errors import StoreUnavailable

URL = "http://a.test/1"


class Crawler(SimpleNamespace):
    __hash__ = object.__hash__


class Plain(Spider):
    name = "plain"

    def parse_page(self, response: Response) -> None:
        pass

    def failed(self, failure: Failure) -> list[Request]:
        return [failure.request.replace(dont_filter=True)]


@pytest.fixture
def crawler(redis_server: str, redis_client: redis.Redis) -> Any:
    settings = Settings(from_environment({}) | {"REDIS_URL": redis_server, "FEEDCRAWL_HOST_DELAY_SEC": 0})
    made = Crawler(settings=settings, spider=Plain())
    made.stats = MemoryStatsCollector(made)
    yield made
    wiring.of(made).close()


def taken(crawler: Crawler, **payload: Any) -> tuple[Lease, Request]:
    leases = wiring.of(crawler).leases
    leases.enqueue([Task("t", "page", URL, "a.test", payload=payload)])
    (lease,) = leases.take(1, ("page",)).leases
    request = PlainPages(crawler).request(lease)
    request.meta["lease"] = lease
    return lease, request


def fail(request: Request, error: Exception) -> Any:
    failure = Failure(error)
    failure.request = request
    return request.errback(failure)


def answered(crawler: Crawler, request: Request, status: int) -> HttpError:
    """What comes of an answer that the spider does not handle."""
    response = Response(URL, status=status, request=request)
    wired = wiring.of(crawler)
    Verdicts(wired.leases, crawler.stats, wired.now).answered(request, response)
    return HttpError(response)


def test_a_request_is_made_again_with_its_methods(crawler: Crawler) -> None:
    _, request = taken(crawler, callback="parse_page", errback="failed", method="POST", meta={"colour": "blue"})
    assert (request.url, request.method, request.callback) == (URL, "POST", crawler.spider.parse_page)
    assert request.meta["colour"] == "blue"


@pytest.mark.parametrize(
    ("status", "ended", "attempts"),
    [
        (404, "dead", 1),
        (410, "dead", 1),
        (302, "dead", 0),
        (304, "pending", 1),  # to a request without validators
        (500, "pending", 1),
        (503, "pending", 0),
        (429, "pending", 0),
    ],
)
def test_a_status_without_a_callback_ends_or_retries_the_task(
    crawler: Crawler, status: int, ended: str, attempts: int
) -> None:
    lease, request = taken(crawler)
    assert isinstance(fail(request, answered(crawler, request, status)), Failure)
    history = wiring.of(crawler).frontier.find("t")[1]
    assert (history.status, history.attempts) == (ended, attempts)
    assert not wiring.of(crawler).leases.holds(lease)


def test_a_304_to_a_conditional_request_ends_the_task(crawler: Crawler) -> None:
    _, request = taken(crawler)
    request.headers["If-None-Match"] = '"1"'
    assert isinstance(fail(request, answered(crawler, request, 304)), Failure)
    assert wiring.of(crawler).frontier.find("t")[1].status == "fetched"


@pytest.mark.parametrize(
    ("error", "ended", "attempts"),
    [
        (net.DNSLookupError(), "pending", 0),
        (net.ConnectionLost(), "pending", 1),
        (ours.RobotsBlocked("x"), "dead", 0),
        (ours.RobotsUnavailable(503), "pending", 0),
        (ours.AddressRefused("127.0.0.1"), "dead", 1),
        (ours.BodyRefused("too_large", ""), "dead", 1),
        (ValueError("a bug"), "pending", 1),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_failures(crawler: Crawler, error: Exception, ended: str, attempts: int) -> None:
    _, request = taken(crawler)
    fail(request, error)
    history = wiring.of(crawler).frontier.find("t")[1]
    assert (history.status, history.attempts) == (ended, attempts)


def test_a_hop_to_another_host_is_the_same_task_until_there_are_too_many(crawler: Crawler) -> None:
    hop = Hop(url="http://b.test/2", same_host=False, same_origin=False, permanent=False)
    _, request = taken(crawler)
    fail(request, ours.HopElsewhere(hop, (URL,)))
    task, history = wiring.of(crawler).frontier.find("t")
    assert (task.url, task.host, history.status) == ("http://b.test/2", "b.test", "pending")
    (lease,) = wiring.of(crawler).leases.take(1, ("page",)).leases
    request = PlainPages(crawler).request(lease)
    request.meta["lease"] = lease
    fail(request, ours.HopElsewhere(hop, tuple(f"http://b.test/{number}" for number in range(5))))
    history = wiring.of(crawler).frontier.find("t")[1]
    assert (history.status, history.reason) == ("dead", "too_many_redirects")


def test_a_request_made_by_an_errback_is_a_new_task(crawler: Crawler) -> None:
    _, request = taken(crawler, errback="failed")
    (again,) = fail(request, net.ConnectionLost())
    assert again.url == URL
    assert "lease" not in again.meta


def test_an_unreachable_store_costs_no_attempt(crawler: Crawler, monkeypatch: pytest.MonkeyPatch) -> None:
    lease, request = taken(crawler)
    leases = wiring.of(crawler).leases

    def away(*_: Any) -> None:
        raise StoreUnavailable("timeout", "no answer")

    with monkeypatch.context() as patch:
        patch.setattr(leases._frontier, "_run", away)
        fail(request, net.ConnectionLost())
        assert leases.holds(lease)
    leases.give_back_unreturned()
    history = wiring.of(crawler).frontier.find("t")[1]
    assert (history.status, history.attempts, history.last_error) == ("pending", 0, "store_lost")
