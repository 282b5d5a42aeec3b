from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.frontier.tasks import Task, task_from_record
from feedcrawl.services.frontier.requests import request_to_task, task_to_request_dict


class Plain(Spider):
    name = "plain"

    def parse_page(self, response):
        pass

    def failed(self, failure):
        pass


SPIDER = Plain()
URL = "http://a.test/path?q=1"


def task_of(request: Request) -> Task:
    return request_to_task(request.to_dict(spider=SPIDER), SPIDER.name)


def again(request: Request) -> Request:
    """The request after its way through the frontier."""
    task, _ = task_from_record(task_of(request).to_record())
    return request_from_dict(task_to_request_dict(task), spider=SPIDER)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,15}", fullmatch=True)
REQUESTS = st.builds(
    Request,
    st.sampled_from([URL, "https://b.test/", "http://c.test:8080/%C3%A9?x=%20"]),
    callback=st.sampled_from([None, SPIDER.parse_page]),
    method=st.sampled_from(["GET", "POST", "HEAD", "PUT"]),
    headers=st.dictionaries(NAMES, st.lists(st.binary(max_size=20), min_size=1, max_size=3), max_size=3),
    body=st.binary(max_size=60),
    meta=st.dictionaries(st.text(max_size=8).map("own-{}".format), JSON, max_size=3),
    priority=st.integers(-20, 20),
    dont_filter=st.booleans(),
    errback=st.sampled_from([None, SPIDER.failed]),
    flags=st.lists(st.text(max_size=5), max_size=2),
    cb_kwargs=st.dictionaries(st.text(max_size=8), JSON, max_size=3),
)


@given(request=REQUESTS)
def test_a_request_survives_its_task(request: Request) -> None:
    assert again(request).to_dict(spider=SPIDER) == request.to_dict(spider=SPIDER)


@given(request=REQUESTS)
def test_a_task_is_json_and_its_id_is_of_method_url_and_body(request: Request) -> None:
    task = task_of(request)
    assert task.to_record()["id"] == task.id
    other = Request(request.url, method=request.method, body=request.body, priority=3, meta={"x": 1})
    assert task_of(other).id == task.id
    assert task_of(request.replace(body=request.body + b"x")).id != task.id
    assert 1 <= task.priority <= 10


def test_the_fields_of_the_task_of_a_page() -> None:
    task = task_of(Request("http://A.test:8080/x", meta={"depth": 2}, cb_kwargs={"number": 1}))
    assert (task.kind, task.host, task.origin, task.depth, task.priority) == ("page", "a.test", "spider", 2, 3)
    assert task.id.startswith("page:")
    assert task.payload["spider"] == "plain"


@pytest.mark.parametrize(
    ("priority", "depth", "rank"), [(0, 0, 5), (2, 0, 7), (0, 1, 4), (100, 3, 10), (-100, 0, 1), (0, 40, 1)]
)
def test_priority_of_a_page(priority: int, depth: int, rank: int) -> None:
    assert task_of(Request(URL, priority=priority, meta={"depth": depth})).priority == rank


def test_keys_of_meta_that_a_fetch_added_are_left_out() -> None:
    left = dict.fromkeys(
        ("outcome", "signal", "probed", "redirect_urls", "download_slot", "download_latency"), object()
    )
    meta = {"colour": "blue", "dont_obey_robotstxt": True, "download_timeout": 3}
    assert again(Request(URL, meta={**left, **meta})).meta == meta


@pytest.mark.parametrize("where", ["meta", "cb_kwargs"])
@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", Request(URL)])
def test_a_value_that_is_no_json_is_refused(where: str, value: object) -> None:
    with pytest.raises(TypeError):
        task_of(Request(URL, **{where: {"x": value}})).to_record()


@pytest.mark.parametrize("url", ["data:,x", "ftp://", "http:///"])
def test_a_url_without_a_host_is_refused(url: str) -> None:
    with pytest.raises(InvalidUrl):
        task_of(Request(url))


def test_cookies_travel() -> None:
    assert again(Request(URL, cookies={"a": "b"})).cookies == {"a": "b"}


def test_private_headers_are_not_sent_to_another_host() -> None:
    own = {"Authorization": "Bearer x", "Cookie": "a=b", "X-Api-Key": "x", "Accept-Language": "en"}
    task = task_of(Request(URL, headers=own, cookies={"a": "b"}))
    moved = replace(task, url="http://b.test/", payload={**task.payload, "redirect_chain": [URL]})
    for each, names in ((task, set(own)), (moved, {"Accept-Language"})):
        request = request_from_dict(task_to_request_dict(each), spider=SPIDER)
        assert {name.decode() for name in request.headers} == names
        assert bool(request.cookies) == (each is task)


def test_a_task_without_details_is_a_get() -> None:
    request = request_from_dict(task_to_request_dict(Task("page:1", "page", URL, "a.test")), spider=SPIDER)
    assert (request.url, request.method, request.body, request.callback) == (URL, "GET", b"", None)


def test_fields_of_the_frontier_are_no_part_of_the_request() -> None:
    payload = {"redirect_chain": [URL], "spider": "plain", "callback": "parse_page"}
    task = Task("page:1", "page", URL, "a.test", payload=payload)
    assert request_from_dict(task_to_request_dict(task), spider=SPIDER).callback == SPIDER.parse_page
