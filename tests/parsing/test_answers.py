"""Results cross from a child to its parent as plain values of declared types, and nothing else does."""

import ast
import json
import os
import pickle
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from documents import FIRST_DAY, Item, page, paragraphs, rss

import feedcrawl
from feedcrawl.domain.discovery import feed_like_links, find_feeds
from feedcrawl.domain.discovery.choice import read_candidate
from feedcrawl.domain.entries.reading import read_feed
from feedcrawl.domain.extraction.page import decode as decode_page
from feedcrawl.domain.extraction.reading import read_article
from feedcrawl.domain.http.refresh import find_refresh
from feedcrawl.domain.models import FeedLink, News
from feedcrawl.domain.sitemaps.gaps import Gap, read_document
from feedcrawl.domain.sitemaps.news import Terms, read_news
from feedcrawl.domain.sites.links import read_links
from feedcrawl.domain.sites.sources import Source
from feedcrawl.domain.subscriptions.lists import read_list
from feedcrawl.parsing import Done, Failed
from feedcrawl.parsing.answers import Answer, decode, encode, pipe

URL = "http://site.test/"
FEED = rss([Item(title="Öne", url=f"{URL}1", published=FIRST_DAY, guid="1", author="Ada", categories=("a", "b"))])
JSON_FEED = json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "\ud800", "title": "x\udfff"}]})
PAGE = page("About", paragraphs("About", count=4), published=FIRST_DAY)
SITEMAP = f"<urlset><url><loc>{URL}a</loc><lastmod>2026-07-06</lastmod></url></urlset>"
ABOUT = {"url": URL, "content_type": None}
CALLS = {
    "feed": (read_feed, FEED, {**ABOUT, "feed_id": "f"}),
    "surrogates": (read_feed, JSON_FEED, {**ABOUT, "feed_id": "f"}),
    "candidate": (read_candidate, FEED, ABOUT),
    "article": (read_article, PAGE, {"content_type": "text/html", "min_chars": 10, "url": URL}),
    "no article": (read_article, "<p>x", {"content_type": "text/html", "min_chars": 10, "url": URL}),
    "text": (decode_page, PAGE, {"content_type": "text/html"}),
    "sitemap": (read_news, SITEMAP, {"url": URL, "terms": Terms(FIRST_DAY, FIRST_DAY - timedelta(days=9), 100, 10)}),
    "list": (read_list, f"{URL}feed news", {}),
    "links": (read_links, f'<a href="{URL}a-long-name-of-an-article">x</a>', {"url": URL, "source": Source("s", URL)}),
    "feeds": (find_feeds, f'<link rel="alternate" type="application/rss+xml" href="{URL}f">', {"url": URL}),
    "refresh": (find_refresh, '<meta http-equiv=refresh content="0;url=/x">', {"url": URL, "header": None}),
    "no refresh": (find_refresh, "<p>x", {"url": URL, "header": None}),
    "gap": (read_document, SITEMAP, {"url": URL, "gap": Gap(FIRST_DAY - timedelta(days=9), FIRST_DAY, "")}),
    "like feeds": (feed_like_links, f'<a href="{URL}rss.xml">RSS</a>', {"url": URL}),
}


FIRST_CALLS = """
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from feedcrawl.parsing.pool import PARSERS
for name in PARSERS:
    import_module(name)
known = set(sys.modules)
spec = spec_from_file_location("calls", sys.argv[1])
calls = module_from_spec(spec)
spec.loader.exec_module(calls)
for function, document, named in calls.CALLS.values():
    try:
        function(document.encode() if isinstance(document, str) else document, **named)
    except ValueError:
        pass
print(*sorted(name for name in set(sys.modules) - known if name.partition(".")[0] in {"feedcrawl", "lxml"}))
"""


def test_children_are_forked_with_all_that_they_run() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", FIRST_CALLS, __file__]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert ran.stdout.split() == []


@pytest.mark.parametrize("name", CALLS)
def test_a_result_arrives_unchanged(name: str) -> None:
    function, document, named = CALLS[name]
    value = function(document.encode() if isinstance(document, str) else document, **named)
    assert decode(function, encode(value, 0.5)) == Done(value, 0.5)


def test_the_table_has_each_function_that_children_run() -> None:
    functions = set()
    for path in Path(feedcrawl.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            name = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
            if name.endswith("parsers.run"):
                functions.add(ast.unparse(call.args[0]).rpartition(".")[2])
            elif name == "self.read" and path.parent.name == "handlers":
                functions.add(ast.unparse(call.args[1]).rpartition(".")[2])
    handed_on = {"function", "find"}  # arguments of the helpers that call the pool
    assert functions - handed_on == {function.__name__ for function, _, _ in CALLS.values()} - {
        "find_feeds",
        "feed_like_links",
    }


@pytest.mark.parametrize(
    ("function", "value"),
    [
        (find_feeds, "no links"),
        (find_feeds, [{"url": 3}]),
        (find_feeds, [{"title": "no URL"}]),
        (read_feed, {"parsed": None, "identified": [], "digest": ""}),
    ],
)
def test_a_result_of_another_type_is_a_failure(function: Any, value: object) -> None:
    failed = decode(function, encode(value, 0.5))
    assert isinstance(failed, Failed)
    assert failed.code == "parse_crash"
    assert function.__name__ in failed.detail


@pytest.mark.parametrize("raw", [b"", b"\xc1", b"\x91" * 100_000, pickle.dumps(FeedLink(URL)), b'{"a":'])
@pytest.mark.parametrize("is_json", [False, True])
def test_bytes_that_are_no_result_are_a_failure(raw: bytes, is_json: bool) -> None:
    assert isinstance(decode(find_feeds, Answer(0.5, value=raw, is_json=is_json)), Failed)


@pytest.mark.parametrize("raw", [b"\xc1", b"\x93\xa6_Taken\x01\xa1x", pickle.dumps([1])])
def test_bytes_that_are_no_message_are_an_error_of_the_pipe(raw: bytes) -> None:
    reader, writer = pipe()
    writer.send_bytes(raw)
    with pytest.raises(OSError, match="invalid message"):
        reader.recv()
    reader.close()
    writer.close()


def test_times_keep_their_moment() -> None:
    at = datetime(2026, 7, 6, 10, 0, 0, 123456, tzinfo=UTC)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(News(published=at)), type=News).published == at
