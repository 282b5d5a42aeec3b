import json
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from feedcrawl.crawl.chain_cookies import cookies_of
from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.exceptions import HopElsewhere, RedirectRefused
from feedcrawl.middlewares.redirects import RedirectMiddleware

SENT = {
    "User-Agent": "feedcrawl",
    "Accept": "*/*",
    "Accept-Language": "en",
    "Accept-Encoding": "gzip",
    "Authorization": "Bearer x",
    "Cookie": "a=b",
    "X-Api-Key": "x",
    "Referer": "http://a.org/",
    "If-None-Match": '"1"',
    "If-Modified-Since": "Mon, 01 Jun 2026 06:00:00 GMT",
}


def answered(request: Request, location: str | bytes | None, status: int = 302, **settings: Any) -> Any:
    headers = {} if location is None else {"Location": location}
    middleware = RedirectMiddleware.from_crawler(get_crawler(settings_dict=settings))
    return middleware.process_response(request, Response(request.url, status=status, headers=headers))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_redirect_is_followed_with_the_attributes_of_its_request(status: int, method: str) -> None:
    request = Request(
        "http://a.org/x",
        method=method,
        headers=SENT,
        meta={"lease": 1},
        priority=7,
        dont_filter=True,
        cb_kwargs={"a": 1},
    )
    followed = answered(request, "/y", status)
    assert (followed.url, followed.method, followed.priority) == ("http://a.org/y", method, 7)
    assert followed.headers == request.headers
    assert followed.cb_kwargs == {"a": 1}
    assert followed.dont_filter
    assert followed.meta == {"lease": 1, "redirect_urls": ["http://a.org/x"], "redirect_statuses": [status]}
    assert "redirect_urls" not in request.meta


@pytest.mark.parametrize("location", ["https://a.org/y", "http://a.org:8080/y", "http://www.a.org/y", "http://b.org/y"])
def test_only_safe_headers_reach_another_origin(location: str) -> None:
    followed = answered(Request("http://a.org/x", headers=SENT, cookies={"a": "b"}), location)
    assert {name.decode() for name in followed.headers} == {
        "User-Agent",
        "Accept",
        "Accept-Language",
        "Accept-Encoding",
    }
    assert not followed.cookies


def test_the_list_of_redirects_grows_to_its_limit() -> None:
    request = Request("http://a.org/0")
    for number in range(1, 6):
        request = answered(request, f"/{number}", 300 + number % 3 + 1)
    assert request.meta["redirect_urls"] == [f"http://a.org/{number}" for number in range(5)]
    assert request.meta["redirect_statuses"] == [302, 303, 301, 302, 303]
    with pytest.raises(RedirectRefused) as caught:
        answered(request, "/6")
    assert caught.value.reason == "too_many_redirects"


def test_the_limit_is_a_setting() -> None:
    assert answered(Request("http://a.org/0"), "/1", FEEDCRAWL_MAX_REDIRECTS=1).url == "http://a.org/1"
    with pytest.raises(RedirectRefused):
        answered(Request("http://a.org/0"), "/1", FEEDCRAWL_MAX_REDIRECTS=0)


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        (None, "bad_redirect"),
        ("file:///etc/passwd", "bad_redirect"),
        (b"/\r\nX: y", "bad_redirect"),
        ("http://a.org/x", "redirect_loop"),
    ],
)
def test_refused(location: str | bytes | None, reason: str) -> None:
    with pytest.raises(RedirectRefused) as caught:
        answered(Request("http://a.org/x"), location)
    assert isinstance(caught.value, IgnoreRequest)
    assert caught.value.reason == reason


def test_a_lease_does_not_follow_to_another_host() -> None:
    request = Request(
        "http://a.org/y", meta={"lease": 1, "redirect_urls": ["http://a.org/x"], "redirect_statuses": [302]}
    )
    with pytest.raises(HopElsewhere) as caught:
        answered(request, "https://b.org/z", 301)
    assert isinstance(caught.value, IgnoreRequest)
    assert (caught.value.hop.url, caught.value.hop.permanent) == ("https://b.org/z", True)
    assert caught.value.chain == ("http://a.org/x", "http://a.org/y")


def test_a_lease_goes_on_over_https_on_its_host() -> None:
    followed = answered(Request("http://a.org/x", meta={"lease": 1}), "https://a.org/x", 301)
    assert (followed.url, followed.meta["lease"]) == ("https://a.org/x", 1)


def test_the_slot_of_the_first_host_is_left_behind() -> None:
    request = Request("http://a.org/x", meta={"download_slot": "a.org"})
    assert answered(request, "/y").meta["download_slot"] == "a.org"
    assert "download_slot" not in answered(request, "http://b.org/y").meta


@pytest.mark.parametrize("status", [200, 201, 300, 304, 305, 306, 404, 503])
def test_other_statuses_pass(status: int) -> None:
    assert answered(Request("http://a.org/x"), "/y", status).status == status


@pytest.mark.parametrize(
    "meta", [{"dont_redirect": True}, {"handle_httpstatus_all": True}, {"handle_httpstatus_list": [302, 404]}]
)
def test_a_redirect_is_returned_where_the_request_handles_it(meta: dict[str, Any]) -> None:
    assert answered(Request("http://a.org/x", meta=meta), "/y").status == 302


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_only_safe_methods_are_followed(method: str) -> None:
    assert answered(Request("http://a.org/x", method=method), "/y").status == 302


def cooked(request: Request, location: str, *cookies: str) -> Any:
    headers = {"Location": location, "Set-Cookie": list(cookies)}
    middleware = RedirectMiddleware.from_crawler(get_crawler())
    return middleware.process_response(request, Response(request.url, status=302, headers=headers))


def cookie_of(request: Request) -> str | None:
    sent = request.headers.get("Cookie")
    return sent.decode() if sent else None


def test_cookies_are_kept_for_a_single_chain() -> None:
    first = cooked(Request("http://a.org/x"), "/x", "seen=1; Path=/")
    assert (first.url, cookie_of(first)) == ("http://a.org/x", "seen=1")
    second = cooked(first, "/y", "more=2; Path=/")
    assert set((cookie_of(second) or "").split("; ")) == {"seen=1", "more=2"}
    assert cookie_of(answered(second, "/z")) == cookie_of(second)
    assert cookie_of(answered(Request("http://a.org/x"), "/y")) is None


@pytest.mark.parametrize(
    ("location", "cookie", "sent"),
    [
        ("http://a.org/y", "a=1", "a=1"),
        ("http://www.a.org/y", "a=1; Domain=a.org", "a=1"),
        ("http://www.a.org/y", "a=1", None),
        ("http://b.org/y", "a=1; Domain=a.org", None),
        ("http://b.org/y", "a=1; Domain=b.org", None),
        ("http://a.org/y", "a=1; Path=/other", None),
        ("http://a.org/y", "a=1; Max-Age=0", None),
        ("http://a.org/y", "a=1; Secure", None),
        ("https://a.org/y", "a=1; Secure", "a=1"),
    ],
)
def test_cookies_go_where_they_are_for(location: str, cookie: str, sent: str | None) -> None:
    assert cookie_of(cooked(Request("http://a.org/x"), location, cookie)) == sent


def test_a_configured_cookie_is_not_replaced() -> None:
    followed = cooked(Request("http://a.org/x", headers={"Cookie": "own=1"}), "/y", "a=1")
    assert cookie_of(followed) == "own=1"
    assert cookie_of(cooked(followed, "http://b.org/", "a=1")) is None


def test_a_loop_that_sets_cookies_is_refused_with_a_hint() -> None:
    with pytest.raises(RedirectRefused) as caught:
        cooked(Request("http://a.org/x"), "/x", "a=1; Domain=b.org")
    assert caught.value.reason == "redirect_loop"
    assert "it sets cookies" in caught.value.detail
    request = Request("http://a.org/x")
    for number in range(5):
        request = cooked(request, "/x", f"a={number}")
    with pytest.raises(RedirectRefused) as caught:
        cooked(request, "/x", "a=9")
    assert caught.value.reason == "too_many_redirects"
    plain = answered(Request("http://a.org/x"), "/y")
    with pytest.raises(RedirectRefused) as caught:
        answered(plain, "/x")
    assert "cookies" not in caught.value.detail


def leased(url: str, **payload: Any) -> Request:
    task = Task("page:1", "page", url, "", payload=payload)  # type: ignore[arg-type]
    return Request(url, meta={"lease": Lease(task, History(), "t")})


def test_a_lease_carries_the_cookies_of_a_chain_to_the_next_host_and_back() -> None:
    middleware = RedirectMiddleware.from_crawler(get_crawler())
    cookies: Any = ()
    sent = []
    for url, location, cookie in (
        ("http://a.org/x", "http://b.org/", "a=1; Path=/"),
        ("http://b.org/", "https://www.a.org/", "b=1; Domain=b.org"),
        ("https://www.a.org/", "https://a.org/", "w=1; Domain=a.org; Secure; Path=/"),
        ("https://a.org/", "https://c.org/", "a=2; Path=/; Max-Age=100"),
        ("http://a.org/", "http://c.org/", "d=1; Path=/d"),
        ("http://b.org/", "http://c.org/", "a=3"),
    ):
        request = leased(url, redirect_cookies=cookies)
        middleware.process_request(request)
        sent.append(cookie_of(request))
        with pytest.raises(HopElsewhere) as caught:
            cooked(request, location, cookie)
        cookies = json.loads(json.dumps(caught.value.cookies))
    assert sent == [None, None, None, "a=1; w=1", "a=2", "b=1"]


def test_the_cookies_of_a_lease_are_bounded() -> None:
    few, long = [f"c{number}=1" for number in range(50)], ["a=1", f"b={'x' * 5000}"]
    for cookies, count in ((few, 20), (long, 1)):
        with pytest.raises(HopElsewhere) as caught:
            cooked(leased("http://a.org/x"), "http://b.org/", *cookies)
        assert len(caught.value.cookies) == count


def test_a_page_that_goes_on_by_other_means_keeps_the_cookies() -> None:
    first = cooked(leased("http://a.org/x"), "/y", "a=1")
    response = Response(first.url, headers={"Set-Cookie": "b=2"})
    assert [(each["name"], each["value"]) for each in cookies_of(first, response)] == [("a", "1"), ("b", "2")]
    assert cookies_of(leased("http://a.org/x"), Response("http://a.org/x")) == []
