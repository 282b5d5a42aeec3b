import asyncio
import gzip
import threading
import zlib
from random import Random
from typing import Any

import brotli
import pytest
import zstandard
from scrapy import Request
from scrapy.exceptions import IgnoreRequest, ResponseDataLossError
from scrapy.http import HtmlResponse, Response, XmlResponse
from scrapy.responsetypes import responsetypes
from scrapy.utils.test import get_crawler

from feedcrawl.crawl.download import MALFORMED
from feedcrawl.exceptions import BodyRefused
from feedcrawl.middlewares import decoding
from feedcrawl.middlewares.decoding import DecodingMiddleware

PAGE = "<html><p>Zürich</p></html>".encode()
BOMB = gzip.compress(bytes(20 << 20))


def decoded(body: bytes, coding: str | None, *, status: int = 200, method: str = "GET", **how: Any) -> Any:
    headers = {"Content-Type": how.pop("content_type", "text/html; charset=utf-8")}
    if coding is not None:
        headers["Content-Encoding"] = coding
    if "content_range" in how:
        headers["Content-Range"] = how.pop("content_range")
    request = Request("http://a.org/x", method=method, meta=how.pop("meta", {}))
    middleware = DecodingMiddleware.from_crawler(get_crawler(settings_dict={"DOWNLOAD_MAXSIZE": 1 << 20} | how))
    made: Any = responsetypes.from_args(headers=None, body=body)
    response = made(request.url, status=status, headers=headers, body=body)
    return asyncio.run(middleware.process_response(request, response))


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(PAGE)),
        ("x-gzip", gzip.compress(PAGE)),
        ("deflate", zlib.compress(PAGE)),
        ("br", brotli.compress(PAGE)),
        ("zstd", zstandard.compress(PAGE)),
        ("gzip, br", brotli.compress(gzip.compress(PAGE))),
        (None, gzip.compress(PAGE)),
        ("utf-8, gzip", gzip.compress(PAGE)),
    ],
)
def test_a_page_comes_as_text(coding: str | None, body: bytes) -> None:
    response = decoded(body, coding)
    assert isinstance(response, HtmlResponse)
    assert "Zürich" in response.text
    assert "Content-Encoding" not in response.headers


def test_a_part_of_a_page_is_an_incomplete_body() -> None:
    with pytest.raises(ResponseDataLossError, match="a part of the document"):
        decoded(PAGE[:-8], None, status=206, content_range=f"bytes 0-{len(PAGE) - 9}/{len(PAGE)}")
    whole = f"bytes 0-{len(PAGE) - 1}/{len(PAGE)}"
    assert decoded(gzip.compress(PAGE), "gzip", status=206, content_range=whole).body == PAGE
    assert decoded(PAGE, None, status=206).flags == ["dataloss"]


def test_the_response_class_follows_from_the_decoded_body() -> None:
    body = gzip.compress(b"<?xml version='1.0'?><urlset/>")
    assert isinstance(decoded(body, None, content_type="text/xml"), XmlResponse)


@pytest.mark.parametrize("coding", [None, "gzip", "identity", "br"])
def test_plain_text_passes_unchanged(coding: str | None) -> None:
    assert decoded(PAGE, coding).body == PAGE


@pytest.mark.parametrize("how", [{"method": "HEAD"}, {"status": 304}, {"status": 204}])
def test_a_response_without_a_body_passes(how: dict[str, Any]) -> None:
    assert decoded(b"", "gzip", **how).body == b""


@pytest.mark.parametrize(
    ("coding", "body", "reason"),
    [
        ("gzip", BOMB, "too_large"),
        (None, BOMB, "too_large"),
        ("gzip, gzip", gzip.compress(BOMB), "too_large"),
        (", ".join(["gzip"] * 200), gzip.compress(PAGE), "bad_encoding"),
        ("exi", b"\0\1", "bad_encoding"),
    ],
)
def test_refused(coding: str | None, body: bytes, reason: str) -> None:
    with pytest.raises(BodyRefused) as caught:
        decoded(body, coding)
    assert isinstance(caught.value, IgnoreRequest)
    assert caught.value.reason == reason


def test_truncated_is_data_loss() -> None:
    with pytest.raises(ResponseDataLossError):
        decoded(gzip.compress(PAGE)[:-12], "gzip")


WHOLE = b"<rss><channel>" + b"<item/>" * 50 + b"</channel></rss>\n"
ZIPPED = gzip.compress(WHOLE)


def transferred(body: bytes, coding: str | None) -> Any:
    """A response whose connection ended before its body did."""
    headers = {"Content-Encoding": coding} if coding else None
    request = Request("http://a.org/x")
    response = Response(request.url, headers=headers, body=body, flags=["dataloss"])
    return asyncio.run(DecodingMiddleware.from_crawler(get_crawler()).process_response(request, response))


@pytest.mark.parametrize(
    ("body", "coding"), [(WHOLE, None), (ZIPPED, "gzip"), (ZIPPED[:-8], "gzip"), (ZIPPED[:-8], None)]
)
def test_a_complete_document_is_read_though_its_transfer_was_not(body: bytes, coding: str | None) -> None:
    response = transferred(body, coding)
    assert (response.body, response.flags) == (WHOLE, ["dataloss"])


@pytest.mark.parametrize(("body", "coding"), [(WHOLE[:-8], None), (ZIPPED[:-20], "gzip"), (b"", None), (b"x", "exi")])
def test_an_incomplete_body_is_data_loss(body: bytes, coding: str | None) -> None:
    with pytest.raises(ResponseDataLossError):
        transferred(body, coding)


def test_chunks_that_cannot_be_read_are_no_lost_connection() -> None:
    request = Request("http://a.org/x")
    response = Response(request.url, body=WHOLE[:-8], flags=["dataloss", MALFORMED])
    with pytest.raises(BodyRefused) as caught:
        asyncio.run(DecodingMiddleware.from_crawler(get_crawler()).process_response(request, response))
    assert caught.value.reason == "protocol"


def test_gzip_data_without_its_end_are_read_if_the_document_is_complete() -> None:
    response = decoded(ZIPPED[:-8], "gzip")
    assert (response.body, response.flags) == (WHOLE, ["dataloss"])


def test_limits() -> None:
    body = gzip.compress(PAGE)
    assert decoded(body, "gzip", meta={"download_maxsize": len(PAGE)}).body == PAGE
    assert len(decoded(BOMB, "gzip", DOWNLOAD_MAXSIZE=0).body) == 20 << 20
    with pytest.raises(BodyRefused):
        decoded(body, "gzip", meta={"download_maxsize": len(PAGE) - 1})
    with pytest.raises(BodyRefused):
        decoded(body, "gzip", DOWNLOAD_MAXSIZE=10)


@pytest.mark.parametrize(
    ("coding", "body", "expected"), [("gzip", gzip.compress(PAGE), PAGE), ("gzip", BOMB, b""), ("exi", b"\0", b"")]
)
@pytest.mark.parametrize("status", [301, 404, 503])
def test_the_body_of_an_error_never_hides_the_status(status: int, coding: str, body: bytes, expected: bytes) -> None:
    response = decoded(body, coding, status=status)
    assert (response.status, response.body) == (status, expected)


def test_accept_encoding_is_sent_unless_the_request_sets_it() -> None:
    middleware = DecodingMiddleware.from_crawler(get_crawler())
    plain, own = Request("http://a.org/"), Request("http://a.org/", headers={"Accept-Encoding": "identity"})
    middleware.process_request(plain)
    middleware.process_request(own)
    assert (plain.headers["Accept-Encoding"], own.headers["Accept-Encoding"]) == (
        b"gzip, deflate, br, zstd",
        b"identity",
    )


def test_decoded_bytes_are_counted() -> None:
    crawler = get_crawler()
    request = Request("http://a.org/")
    response = Response(request.url, body=gzip.compress(PAGE), headers={"Content-Encoding": "gzip"})
    asyncio.run(DecodingMiddleware.from_crawler(crawler).process_response(request, response))
    assert crawler.stats
    assert crawler.stats.get_value("httpcompression/response_bytes") == len(PAGE)


@pytest.mark.parametrize(
    ("coding", "body", "first"),
    [
        (None, b"x" * 50_000, b"x" * 40_000),
        (None, b"x" * 30_000, b"x" * 30_000),
        ("gzip", gzip.compress(bytes(50_000)), bytes(40_000)),
        ("gzip", gzip.compress(Random(1).randbytes(90_000))[:60_000], Random(1).randbytes(90_000)[:40_000]),
        ("br", brotli.compress(bytes(2 << 20)), bytes(40_000)),
    ],
)
def test_a_body_is_cut_after_the_requested_first_bytes(coding: str | None, body: bytes, first: bytes) -> None:
    assert decoded(body, coding, meta={"first_bytes": 40_000, "download_maxsize": 0}).body == first


@pytest.mark.parametrize("label", ["punycode", "idna", "undefined", "rot13", "unicode_escape", "utf-7"])
@pytest.mark.parametrize("coding", [None, "gzip"])
def test_a_spider_gets_no_codec_that_is_no_encoding_of_text(label: str, coding: str | None) -> None:
    for body, kind in [(PAGE, f"text/html; charset={label}"), (f"<meta charset={label}>".encode() + PAGE, "text/html")]:
        response = decoded(gzip.compress(body) if coding else body, coding, content_type=kind)
        assert response.text == body.decode()


@pytest.mark.parametrize(
    ("body", "in_loop"),
    [
        (gzip.compress(PAGE), True),
        (gzip.compress(bytes(1 << 20)), False),
        (gzip.compress(Random(1).randbytes(20 << 10)), False),
    ],
)
def test_a_small_body_is_decoded_in_the_event_loop(body: bytes, in_loop: bool, monkeypatch: Any) -> None:
    where: list[bool] = []
    decode = decoding.decode

    def seen(*args: Any, **how: Any) -> bytes:
        where.append(threading.current_thread() is threading.main_thread())
        return decode(*args, **how)

    monkeypatch.setattr(decoding, "decode", seen)
    decoded(body, "gzip")
    assert where[-1] is in_loop
