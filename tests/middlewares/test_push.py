from scrapy import Request

from feedcrawl.middlewares.push import PushMiddleware
from feedcrawl.store.push.websub import Delivery, HubState

URL = "http://a.test/feed"


def test_a_delivery_is_the_response_byte_for_byte() -> None:
    pushed = HubState(None, Delivery("application/atom+xml", b"\xff\x00<feed/>"), 1)
    answer = PushMiddleware().process_request(Request(URL, meta={"delivery": pushed}))
    assert answer is not None
    assert (answer.url, answer.status, answer.body) == (URL, 200, b"\xff\x00<feed/>")
    assert answer.headers["Content-Type"] == b"application/atom+xml"


def test_a_feed_without_a_delivery_is_requested() -> None:
    assert PushMiddleware().process_request(Request(URL)) is None
    assert PushMiddleware().process_request(Request(URL, meta={"delivery": HubState(None, None, 0)})) is None
