import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from feedcrawl.domain.articles.outfeeds import OutEntry, OutFeed, atom, entry_of, json_feed
from feedcrawl.domain.feeds import parse

AT = datetime(2026, 11, 28, 0, 33, 5, tzinfo=UTC)
FEED = OutFeed(
    "Ada's articles",
    "https://crawl.test/collections/ada.atom",
    AT,
    "https://crawl.test/collections/ada",
    "https://crawl.test/collections/ada.atom?after=1&n=2",
    "https://hub.test/",
)
FULL = OutEntry(
    "cc02fb5fb5814a26",
    "https://news.test/b?x=ä y",
    datetime(2026, 11, 28, 9, tzinfo=UTC),
    "A <new> bridge & more",
    datetime(2026, 3, 2, 8, tzinfo=UTC),
    ("Ada Writer", "Bob"),
    ("villages", 'a"b'),
    "The bridge is open.",
    "<p>The bridge <b>is</b> open &amp; free.</p>",
    "https://news.test/b.jpg",
    "en-GB",
)
BARE = OutEntry("fa57ae6503cc3119", "https://news.test/c", AT)
BUILDERS = pytest.mark.parametrize(("build", "form"), [(atom, "atom1.0"), (json_feed, "json1.1")])


@BUILDERS
def test_the_parser_reads_a_published_feed_back(build: Any, form: str) -> None:
    found = parse(build(FEED, [FULL, BARE]), url=FEED.self_url)
    assert (found.format, found.title, found.notes) == (form, FEED.title, ())
    assert (found.self_url, found.paging.next, found.hubs) == (FEED.self_url, FEED.next_url, ("https://hub.test/",))
    full, bare = found.entries
    assert (full.native_id, full.title) == ("urn:feedcrawl:article:cc02fb5fb5814a26", FULL.title)
    assert full.link == "https://news.test/b?x=%C3%A4%20y"
    assert (full.published, full.updated) == (FULL.published, FULL.updated)
    assert [person.name for person in full.authors] == ["Ada Writer", "Bob"]
    assert (full.categories, full.summary, full.content) == (FULL.categories, FULL.summary, FULL.html)
    assert (full.language or "").lower() == "en-gb"
    assert (bare.native_id, bare.link, bare.updated) == ("urn:feedcrawl:article:fa57ae6503cc3119", BARE.url, AT)


def test_an_atom_feed_has_the_elements_of_its_format() -> None:
    names = {"a": "http://www.w3.org/2005/Atom"}
    root = etree.fromstring(atom(FEED, [BARE, FULL]))
    assert [root.findtext(f"a:{name}", namespaces=names) for name in ("id", "title", "updated")] == [
        FEED.id, FEED.title, "2026-11-28T09:00:00Z",
    ]  # fmt: skip
    for entry in root.findall("a:entry", names):
        for name in ("id", "title", "updated", "author/a:name"):
            assert entry.findtext(f"a:{name}", namespaces=names)
        assert len(entry.findall("a:link[@rel='alternate']", names)) == 1
    assert etree.fromstring(atom(replace(FEED, id="urn:a"), [])).findtext("a:id", namespaces=names) == "urn:a"
    empty = etree.fromstring(atom(FEED, []))
    assert empty.findtext("a:updated", namespaces=names) == "2026-11-28T00:33:05Z"


def test_a_json_feed_has_the_members_of_its_format() -> None:
    document = json.loads(json_feed(replace(FEED, next_url=None, hub_url=None), [BARE]))
    assert document == {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Ada's articles",
        "feed_url": FEED.self_url,
        "items": [
            {
                "id": "urn:feedcrawl:article:fa57ae6503cc3119",
                "url": "https://news.test/c",
                "content_text": "",
                "date_modified": "2026-11-28T00:33:05Z",
            }
        ],
    }


def test_an_entry_is_made_of_a_stored_article() -> None:
    article = {
        "uid": FULL.uid,
        "url": "https://news.test/other",
        "canonical_url": FULL.url,
        "fetched_ts": FULL.updated.timestamp(),
        "title": FULL.title,
        "published": "2026-03-02T08:00:00Z",
        "authors": list(FULL.authors),
        "categories": list(FULL.categories),
        "abstract": FULL.summary,
        "content_html": FULL.html,
        "image": FULL.image,
        "language": FULL.language,
    }
    assert entry_of(article) == FULL


TEXT = st.text(st.characters() | st.sampled_from("\0\x1b\ud800<&>\"']]>"))


@BUILDERS
@given(title=TEXT, html=TEXT, url=TEXT)
def test_a_published_document_is_whole_whatever_its_articles_contain(
    build: Any, form: str, title: str, html: str, url: str
) -> None:
    odd = replace(FULL, title=title, html=html, url=url, authors=(title,), categories=(html,), language=url)
    document = build(replace(FEED, title=title), [odd, BARE])
    assert len(parse(document, url=FEED.self_url).entries) == 2
