"""Which answers for a page are read: by their type, before their body."""

import pytest
from scrapy import Request
from scrapy.exceptions import StopDownload
from scrapy.http import Headers

from feedcrawl.spiders.base import FrontierSpider


@pytest.mark.parametrize(
    ("declared", "read"),
    [
        (b"text/html", True),
        (b"text/html; charset=utf-8", True),
        (b" TEXT/HTML ;charset=x", True),
        (b"application/xhtml+xml", True),
        (b"application/rss+xml", True),
        (b"text/xml", True),
        (b"text/plain", True),
        (b"", True),
        (None, True),
        (b"application/pdf", False),
        (b"image/png", False),
        (b"video/mp4", False),
        (b"application/json", False),
        (b"application/octet-stream", False),
        (b"text/html-sandboxed", False),
        (b"\xff\xfe", False),
    ],
)
def test_types_that_are_read(declared: bytes | None, read: bool) -> None:
    spider = FrontierSpider(name="any")
    headers = Headers({} if declared is None else {"Content-Type": declared})
    page = Request("http://a.example/", meta={"html_only": True})
    if read:
        spider.stop_at_type(headers, page)
    else:
        with pytest.raises(StopDownload) as stopped:
            spider.stop_at_type(headers, page)
        assert stopped.value.fail is False
    spider.stop_at_type(headers, Request("http://a.example/feed"))
