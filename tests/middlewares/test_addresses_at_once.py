import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.utils.test import get_crawler

from feedcrawl.domain.addresses import denied_ports, url_refusal
from feedcrawl.domain.http.url_gate import in_words
from feedcrawl.exceptions import AddressRefused
from feedcrawl.middlewares.addresses import AddressMiddleware

AUTHORITIES = [
    "a.test",
    "A.test:80",
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "a.test:22",
    "a.test.",
    "a..",
    "a.test:080",
    "b:6379",
]


@pytest.fixture(scope="module")
def guard() -> AddressMiddleware:
    return AddressMiddleware.from_crawler(get_crawler())


@given(
    st.sampled_from(["http", "https"]),
    st.sampled_from(AUTHORITIES) | st.from_regex(r"[axn.0-9-]{1,12}(:[0-9]{1,5})?", fullmatch=True),
    st.text(st.characters(min_codepoint=9, max_codepoint=255), max_size=20),
)
def test_the_cached_verdict_of_a_host_equals_that_of_the_whole_url(
    guard: AddressMiddleware, scheme: str, authority: str, path: str
) -> None:
    try:
        request = Request(f"{scheme}://{authority}/{path}")
    except ValueError:  # no URL by Scrapy either
        return
    refusal = url_refusal(request.url, (), denied_ports(""))
    with (
        pytest.raises(AddressRefused, match=re.escape(in_words(refusal, request.url)))
        if refusal
        else contextlib.nullcontext()
    ):
        guard.process_request(request)


@pytest.mark.parametrize("path", ['"' * 690, "a" * 2100])
def test_a_url_that_is_too_long_is_refused_whatever_its_host(guard: AddressMiddleware, path: str) -> None:
    guard.process_request(Request("http://a.test/"))
    with pytest.raises(AddressRefused, match="url_too_long"):
        guard.process_request(Request(f"http://a.test/{path}"))
