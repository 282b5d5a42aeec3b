"""What relative links of content are resolved against, items within items, and items that programs share."""

import json

import pytest

from feedcrawl.domain.entries.identity import identify
from feedcrawl.domain.feeds import parse

URL = "https://feeds.example/news/rss.xml"


def rss(items: str, channel: str = "") -> str:
    spaces = 'xmlns:sx="http://feedsync.org/2007/feedsync"'
    return f'<rss version="2.0" {spaces}><channel><title>x</title>{channel}{items}</channel></rss>'


def atom(entries: str, base: str = "") -> str:
    return f'<feed xmlns="http://www.w3.org/2005/Atom" {base}><title>x</title>{entries}</feed>'


def jsonfeed(**feed: object) -> str:
    return json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "x", **feed})


CONTENT = "<description>&lt;img src='p.png'&gt;</description>"
ITEM = {"id": "1", "content_html": "<a href='../b'>b</a>"}


@pytest.mark.parametrize(
    ("document", "content"),
    [
        (rss(f"<item>{CONTENT}</item>"), "<img src='https://feeds.example/news/p.png'>"),
        (
            rss(f"<item>{CONTENT}</item>", "<link>https://site.example/blog/</link>"),
            "<img src='https://site.example/blog/p.png'>",
        ),
        (
            rss(f"<item><link>https://site.example/2026/a</link>{CONTENT}</item>", "<link>https://no.example/</link>"),
            "<img src='https://site.example/2026/p.png'>",
        ),
        (
            rss(f'<item xml:base="https://cdn.example/x/"><link>https://site.example/a</link>{CONTENT}</item>'),
            "<img src='https://cdn.example/x/p.png'>",
        ),
        (
            atom(
                "<entry><link href='https://site.example/a/b'/>"
                "<content type='html'>&lt;a href='c'&gt;c&lt;/a&gt;</content></entry>"
            ),
            "<a href='https://site.example/a/c'>c</a>",
        ),
        (
            atom(
                "<entry><link href='a/b'/><content type='html'>&lt;a href='c'&gt;c&lt;/a&gt;</content></entry>",
                'xml:base="https://base.example/d/"',
            ),
            "<a href='https://base.example/d/c'>c</a>",
        ),
        (
            atom(
                "<entry><link href='https://site.example/a'/><content type='html'>&lt;a href='c'&gt;</content></entry>",
                f'xml:base="{URL}"',  # the feed's own URL counts where the feed says so
            ),
            "<a href='https://feeds.example/news/c'>",
        ),
        (jsonfeed(items=[ITEM]), "<a href='https://feeds.example/b'>b</a>"),
        (jsonfeed(items=[ITEM], home_page_url="https://site.example/x/y/"), "<a href='https://site.example/x/b'>b</a>"),
        (
            jsonfeed(items=[ITEM | {"url": "https://site.example/1/2/3"}], home_page_url="https://no.example/"),
            "<a href='https://site.example/1/b'>b</a>",
        ),
    ],
)
def test_relative_links_of_content(document: str, content: str) -> None:
    (entry,) = parse(document.encode(), url=URL).entries
    assert (entry.content or entry.summary) == content


def nested(count: int, ends: str) -> str:
    return rss("".join(f"<item><title>{number}</title><guid>{number}</guid>" for number in range(count)) + ends)


@pytest.mark.parametrize(
    "document",
    [
        nested(3, ""),
        nested(3, "</item>" * 3),
        rss(
            "<item><title>0</title><guid>0</guid><item><title>1</title><guid>1</guid></item>"
            "<item><title>2</title><guid>2</guid></item></item>"
        ),
        atom(
            "<entry><title>0</title><id>0</id><entry><title>1</title><id>1</id></entry></entry>"
            "<entry><title>2</title><id>2</id></entry>"
        ),
    ],
)
def test_items_within_an_item_are_entries_too(document: str) -> None:
    found = parse(document.encode(), url=URL).entries
    assert [(entry.title, entry.native_id) for entry in found] == [(str(number), str(number)) for number in range(3)]


def test_items_that_differ_in_an_extension_alone_have_names_of_their_own() -> None:
    items = "".join(f'<item><title>Milk</title><sx:sync id="ep2.{number}" updates="1"/></item>' for number in range(3))
    found = parse(rss(items).encode(), url=URL).entries
    assert [entry.native_id for entry in found] == ["ep2.0", "ep2.1", "ep2.2"]


@pytest.mark.parametrize(
    ("items", "count"),
    [
        ('<item><title>Milk</title><x:aisle xmlns:x="urn:x">{}</x:aisle></item>', 3),
        ('<item><title>Milk</title><g:price xmlns:g="http://base.google.com/ns/1.0">{} EUR</g:price></item>', 3),
        (
            '<item><title>Quake</title><geo:lat xmlns:geo="http://www.w3.org/2003/01/geo/wgs84_pos#">{}</geo:lat></item>',
            3,
        ),
        ("<item><title>Backup done</title><pubDate>Mon, 0{} Jun 2026 06:00:00 GMT</pubDate></item>", 3),
        ('<item><title>Episode</title><enclosure url="http://a.test/{}.mp3"/></item>', 3),
        ('<item><enclosure url="http://a.test/{}.mp3"/></item>', 3),
        ("<item><description>Same</description><category>c{}</category></item>", 3),
        ("<item><title>Milk</title></item><!-- {} -->", 1),
        ("<item><title>Same</title><guid>7</guid><x>{}</x></item>", 1),
        ("<item><title>Same</title><link>http://a.test/</link><x>{}</x></item>", 3),
        ("<item><title>Same</title><link>http://a.test/</link><description>{} mm of rain</description></item>", 3),
        ("<item><title>Menu</title><link>/menu</link><pubDate>Mon, 0{} Jun 2026 06:00:00 GMT</pubDate></item>", 3),
        ("<item><title>Same</title><link>/a</link><category>c{}</category></item>", 3),
        ('<item><title>Same</title><link>/a</link><enclosure url="http://a.test/{}.mp3"/></item>', 3),
        ("<item><title>Same</title><link>/a</link></item><!-- {} -->", 1),
    ],
)
def test_items_without_an_id_are_lost_only_if_they_are_alike(items: str, count: int) -> None:
    document = rss("".join(items.format(number) for number in range(1, 4))).encode()
    found = identify(parse(document, url=URL).entries, feed_id="f")
    assert len(found) == count
    assert len({each.uids[0] for each in found}) == len({each.keys[0] for each in found}) == count
    again = identify(parse(document.replace(b"><", b">\n  <"), url=URL).entries, feed_id="f")
    assert [each.uids for each in again] == [each.uids for each in found]
