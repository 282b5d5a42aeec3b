from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest
from scrapy.utils.test import get_crawler

from feedcrawl.exceptions import AddressRefused
from feedcrawl.middlewares.addresses import STAT, AddressMiddleware


def middleware(**settings: Any) -> AddressMiddleware:
    return AddressMiddleware.from_crawler(get_crawler(settings_dict=settings))


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/robots.txt",
        "http://[::1]/",
        "http://example.com:22/",
        "ftp://example.com/",
        "http://u:p@example.com/",
    ],
)
def test_refused(url: str, method: str) -> None:
    with pytest.raises(AddressRefused) as caught:
        middleware().process_request(Request(url, method=method))
    assert isinstance(caught.value, IgnoreRequest)
    assert caught.value.reason == "address_refused"
    assert not caught.value.detail.startswith("url_")  # words, not a code


@pytest.mark.parametrize(
    "url", ["http://example.com/", "https://example.com:8443/x?y", "http://localhost/", "http://8.8.8.8/"]
)
def test_left_to_the_resolver(url: str) -> None:
    middleware().process_request(Request(url))


def test_settings() -> None:
    opened = middleware(FEEDCRAWL_ALLOW_NETWORKS="127.1.0.0/16, 10.0.0.0/8", FEEDCRAWL_DENY_PORTS="8081,9100-9110")
    opened.process_request(Request("http://127.1.0.1:8080/"))
    opened.process_request(Request("http://10.1.1.1/"))
    for url in ("http://127.0.0.1/", "http://127.1.0.1:8081/", "http://127.1.0.1:9105/", "http://127.1.0.1:6379/"):
        with pytest.raises(AddressRefused):
            opened.process_request(Request(url))


@pytest.mark.parametrize("settings", [{"FEEDCRAWL_ALLOW_NETWORKS": "10/33"}, {"FEEDCRAWL_DENY_PORTS": "http"}])
def test_a_bad_rule_stops_the_start(settings: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"10/33|http"):
        middleware(**settings)


def test_only_refusals_are_counted() -> None:
    crawler = get_crawler()
    guard = AddressMiddleware.from_crawler(crawler)
    for exception in (AddressRefused("by the resolver"), CannotResolveHostError("no such name"), AddressRefused("x")):
        guard.process_exception(Request("http://example.com/"), exception)
    assert crawler.stats
    assert crawler.stats.get_value(STAT) == 2
