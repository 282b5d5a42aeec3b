from scrapy import Request

from feedcrawl.domain.http.conditional import Validators
from feedcrawl.middlewares.conditional import ConditionalMiddleware

VALIDATORS = Validators('W/"a\x80"', "Fri, 27 Nov 2026 12:00:00 GMT")


def sent(request: Request) -> dict[bytes, list[bytes]]:
    assert ConditionalMiddleware().process_request(request) is None
    return dict(request.headers)


def test_validators_become_headers_as_they_were_received() -> None:
    assert sent(Request("http://a.test/", meta={"validators": VALIDATORS})) == {
        b"If-None-Match": [b'W/"a\x80"'],
        b"If-Modified-Since": [b"Fri, 27 Nov 2026 12:00:00 GMT"],
    }


def test_a_request_without_validators_is_unconditional() -> None:
    for meta in ({}, {"validators": None}, {"validators": Validators()}):
        assert sent(Request("http://a.test/", meta=meta)) == {}


def test_they_do_not_follow_a_redirect() -> None:
    assert sent(Request("http://b.test/", meta={"validators": VALIDATORS, "redirect_urls": ["http://a.test/"]})) == {}
