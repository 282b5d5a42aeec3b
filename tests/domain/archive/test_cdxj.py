from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.archive.cdxj import Capture, line, mime_of, surt
from feedcrawl.domain.urls import canonicalize

SESSION = "0123456789abcdef0123456789abcdef"

# The right-hand sides are what the Internet Archive's own `surt` 0.3.1 answers, which replay programs ask.
KEYS = [
    ("http://news.test", "test,news)/"),
    ("http://news.test/", "test,news)/"),
    ("http://www.News.test/A/?b=2&a=1", "test,news)/a?a=1&b=2"),
    ("http://www12.news.test/a//b/../c/./d/", "test,news)/a/c/d"),
    ("http://wwwx.news.test/", "test,news,wwwx)/"),
    ("http://www.test/", "test)/"),
    ("http://news.test./x", "test,news)/x"),
    ("http://news.test:8080/feed", "test,news:8080)/feed"),
    ("https://news.test:443/feed/", "test,news)/feed"),
    ("http://news.test:443/x", "test,news:443)/x"),
    ("http://user:pw@news.test/x", "test,news)/x"),
    ("http://127.0.0.1:9160/a", "1,0,0,127:9160)/a"),
    ("http://[::1]:9160/a", "::1:9160)/a"),
    ("http://xn--bcher-kva.test/%E2%82%AC", "test,xn--bcher-kva)/%e2%82%ac"),
    ("http://news.test/%7Efoo/%2541?x=%20y+z", "test,news)/~foo/a?x=%20y+z"),
    ("http://news.test/caf\u00e9?q=%C3%A9", "test,news)/caf%c3%a9?q=%c3%a9"),
    ("http://news.test/%23a?%23b", "test,news)/%23a?%23b"),
    ("http://news.test/a%3Fb", "test,news)/a?b"),
    ("http://news.test/x?u=http://a.test/?q=1", "test,news)/x?u=http://a.test/?q=1"),
    ("http://news.test/a?", "test,news)/a"),
    ("http://news.test/a?b", "test,news)/a?b"),
    ("http://news.test/a?z=1&a=2&a=1&&", "test,news)/a?&&a=1&a=2&z=1"),
    ("http://news.test/a?b=&a", "test,news)/a?a&b="),
    (f"http://news.test/a?PHPSESSID={SESSION}&x=1", "test,news)/a?x=1"),
    (f"http://news.test/a?x=1&sid={SESSION}", "test,news)/a?&x=1"),
    ("http://news.test/a?CFID=1&CFTOKEN=2&y=3", "test,news)/a?y=3"),
    ("http://news.test/(s(0123456789abcdefghijklmn))/page.aspx", "test,news)/page.aspx"),
    ("http://news.test/(0123456789abcdefghijklmn)/page.aspx?d=1", "test,news)/page.aspx?d=1"),
    ("http://news.test/a/..", "test,news)/"),
    ("http://news.test/..", "test,news)/.."),
    ("http://news.test//", "test,news)/"),
]


@pytest.mark.parametrize(("url", "key"), KEYS)
def test_the_key_is_the_surt_of_replay_programs(url: str, key: str) -> None:
    assert surt(url) == key


@pytest.mark.parametrize("url", ["", "news", "mailto:", "http://", "http:///x", "http://:80/"])
def test_a_url_without_a_host_has_no_key(url: str) -> None:
    with pytest.raises(ValueError, match="no host"):
        surt(url)


@given(st.text(alphabet="aZ09/.%?&=;:@~+ \u00e9\U0001f600\ud800", max_size=40))
def test_a_key_is_a_single_ascii_word(rest: str) -> None:
    key = surt(f"http://news.test/{rest}")
    assert key.isascii()
    assert key.split() == [key]


def test_spellings_with_the_same_canonical_url_have_the_same_key() -> None:
    assert surt(canonicalize("http://News.test:80/a/../b?y=1&x=2#f")) == surt("http://news.test/b?x=2&y=1")


def test_a_line() -> None:
    at = datetime(2026, 11, 27, 23, 6, 16, 999_999, tzinfo=UTC)
    found = line(Capture("http://news.test/a", at, "text/html", 200, "sha256:ab", "d/f.gz", 7, 9))
    assert found == (
        'test,news)/a 20261127230616 {"url": "http://news.test/a", "mime": "text/html", "status": "200", '
        '"digest": "sha256:ab", "length": "9", "offset": "7", "filename": "d/f.gz"}'
    )


@pytest.mark.parametrize(
    ("declared", "mime"),
    [
        ("text/html", "text/html"),
        ("Text/HTML; charset=utf-8", "text/html"),
        ("application/rss+xml;x", "application/rss+xml"),
        (None, "unk"),
        ("", "unk"),
        ("html", "unk"),
        ('text/html" x', "unk"),
    ],
)
def test_types_are_bare(declared: str | None, mime: str) -> None:
    assert mime_of(declared) == mime
