import json
from datetime import UTC, datetime

import pytest

from feedcrawl.domain.errors import NotAFeed
from feedcrawl.domain.feeds import parse
from feedcrawl.domain.models import Enclosure, Link, Person

URL = "https://news.example/feeds/all"
RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/elements/1.1/"'

JSON_ITEM = b'{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": %s, "url": "https://a.test/1"}]}'


def test_rss_10():
    feed = parse(
        f"""<rdf:RDF {RDF} xmlns="http://purl.org/rss/1.0/">
        <channel rdf:about="https://news.example/"><title>The News</title><link>/</link>
        <dc:date>2024-01-01</dc:date>
        <image rdf:resource="/not-this.png"/><items><rdf:Seq><rdf:li rdf:resource="/1"/></rdf:Seq></items></channel>
        <image rdf:about="/logo.png"><url>/logo.png</url><link>/not-the-link</link></image>
        <item rdf:about="https://news.example/1"><title>One</title><link>/1</link><dc:creator>Ann</dc:creator>
        <dc:date>2024-01-01T10:00:00Z</dc:date></item>
        <item rdf:about="/2"><title>Two</title></item></rdf:RDF>""".encode(),
        url=URL,
    )
    assert (feed.format, feed.title, feed.link) == ("rss1.0", "The News", "https://news.example/")
    assert (feed.image, feed.updated) == ("https://news.example/logo.png", datetime(2024, 1, 1, tzinfo=UTC))
    first, second = feed.entries
    assert (first.native_id, first.link, first.authors) == (
        "https://news.example/1",
        "https://news.example/1",
        (Person("Ann"),),
    )
    assert first.published == datetime(2024, 1, 1, 10, tzinfo=UTC)
    assert (second.native_id, second.title) == ("/2", "Two")


@pytest.mark.parametrize(
    ("space", "format_"),
    [("http://my.netscape.com/rdf/simple/0.9/", "rss0.90"), ("http://purl.org/rss/1.0/", "rss1.0")],
)
def test_rdf_by_its_namespace(space, format_):
    body = f'<rdf:RDF {RDF} xmlns="{space}"><channel><title>x</title></channel><item><title>y</title></item></rdf:RDF>'
    feed = parse(body.encode(), url=URL)
    assert (feed.format, feed.title, [entry.title for entry in feed.entries]) == (format_, "x", ["y"])
    assert parse(f'<rdf:RDF {RDF} xmlns="{space}"/>'.encode(), url=URL).format == format_


def test_rdf_of_another_kind_is_no_feed():
    body = f'<rdf:RDF {RDF}><rdf:Description rdf:about="x"><dc:title>x</dc:title></rdf:Description></rdf:RDF>'
    with pytest.raises(NotAFeed) as refused:
        parse(body.encode(), url=URL)
    assert refused.value.code == "xml"


def test_cdf():
    feed = parse(
        b"""<CHANNEL HREF="http://news.example/" LASTMOD="2024-01-01T10:00:00Z"><TITLE>The News</TITLE>
        <ABSTRACT>All</ABSTRACT><ITEM HREF="/1" LASTMOD="2024-01-02T00:00:00Z"><TITLE>One</TITLE>
        <ABSTRACT>First</ABSTRACT></ITEM></CHANNEL>""",
        url=URL,
    )
    assert (feed.format, feed.title, feed.link) == ("cdf", "The News", "http://news.example/")
    assert (feed.description, feed.updated) == ("All", datetime(2024, 1, 1, 10, tzinfo=UTC))
    (entry,) = feed.entries
    assert (entry.title, entry.link, entry.summary) == ("One", "https://news.example/1", "First")
    assert entry.updated == datetime(2024, 1, 2, tzinfo=UTC)


def json_feed(**members):
    return parse(json.dumps({"version": "https://jsonfeed.org/version/1.1", **members}).encode(), url=URL)


def test_json_feed():
    feed = json_feed(
        title="The News", home_page_url="/", feed_url="/feed.json", description="All", language="en", icon="/i.png",
        next_url="?page=2", authors=[{"name": "Ed", "url": "/ed"}], hubs=[{"type": "WebSub", "url": "https://hub.example/"}],
        items=[
            {
                "id": 1, "url": "/1", "external_url": "https://other.example/", "title": "One\ntwo", "summary": "Short",
                "content_html": "<p>x</p>", "content_text": "x", "date_published": "2024-01-01T10:00:00+01:00",
                "date_modified": "2024-01-02T00:00:00Z", "tags": ["a", "b"], "image": "/p.png", "language": "de",
                "attachments": [{"url": "/a.mp3", "mime_type": "audio/mpeg", "size_in_bytes": 12.5}],
            },
            {"id": "2", "content_text": "text", "external_url": "https://other.example/2", "author": {"name": "Ann"}},
        ],
    )  # fmt: skip
    assert (feed.format, feed.title, feed.link) == ("json1.1", "The News", "https://news.example/")
    assert (feed.self_url, feed.hubs) == ("https://news.example/feed.json", ("https://hub.example/",))
    assert (feed.description, feed.language, feed.image) == ("All", "en", "https://news.example/i.png")
    assert (feed.paging.next, feed.authors) == (f"{URL}?page=2", (Person("Ed", None, "https://news.example/ed"),))
    first, second = feed.entries
    assert (first.native_id, first.link, first.title) == ("1", "https://news.example/1", "One two")
    assert (first.summary, first.content, first.categories) == ("Short", "<p>x</p>", ("a", "b"))
    assert first.published == datetime(2024, 1, 1, 9, tzinfo=UTC)
    assert first.updated == datetime(2024, 1, 2, tzinfo=UTC)
    assert (first.image, first.language) == ("https://news.example/p.png", "de")
    assert first.enclosures == (Enclosure("https://news.example/a.mp3", "audio/mpeg", 12),)
    assert first.links == (Link("https://news.example/1", "alternate"), Link("https://other.example/", "related"))
    assert first.authors == feed.authors
    assert first.raw is not None
    assert json.loads(first.raw)["id"] == 1
    assert (second.link, second.content, second.authors) == ("https://other.example/2", "text", (Person("Ann"),))


def test_json_feed_1_0_and_a_feed_without_a_version():
    assert parse(b'{"version": "https://jsonfeed.org/version/1", "items": []}', url=URL).format == "json1.0"
    assert parse(b'\xef\xbb\xbf {"title": "x", "items": [{"id": "1"}]}', url=URL).entries[0].native_id == "1"


def test_wrong_types_in_json_are_as_good_as_missing():
    feed = json_feed(
        title=["x"], home_page_url={}, authors=[[], True], language=1.5, hubs="x", next_url=True,
        items=[
            "x", None, 5,
            {"id": {}, "title": 7, "url": 1.2, "tags": [{}, None], "attachments": [5, {"url": None}], "author": []},
            {"id": True, "date_published": 5, "authors": [{"name": [], "url": "mailto:x"}]},
        ],
    )  # fmt: skip
    assert (feed.title, feed.link, feed.authors, feed.hubs) == (None, None, (), ())
    first, second = feed.entries
    assert (first.native_id, first.title, first.categories, first.enclosures) == (None, "7", (), ())
    assert (second.native_id, second.published, second.authors) == (None, None, ())
    assert json_feed(items={"a": 1}).entries == ()


@pytest.mark.parametrize(
    ("item", "field", "value"),
    [
        ({"author": "Ann"}, "authors", (Person("Ann"),)),
        ({"authors": ["Ann", "Bob", "Ann", 5]}, "authors", (Person("Ann"), Person("Bob"))),
        ({"authors": ["no object", {"name": "Bob"}]}, "authors", (Person("Bob"),)),
        ({"authors": {"name": "Ann", "url": "/ann"}}, "authors", (Person("Ann", uri="https://news.example/ann"),)),
        ({"tags": "News, World,, News"}, "categories", ("News", "World")),
        ({"tags": ["a, b", "c", "c"]}, "categories", ("a, b", "c")),
        ({"attachments": {"url": "/a.mp3"}}, "enclosures", (Enclosure("https://news.example/a.mp3"),)),
        ({"image": {"url": "/i.png"}}, "image", "https://news.example/i.png"),
    ],
)
def test_a_value_in_place_of_a_list_or_an_object_in_json(item, field, value):
    assert getattr(json_feed(items=[{"id": "1", **item}]).entries[0], field) == value


@pytest.mark.parametrize(
    ("about", "link"),
    [("https://a.test/1", "https://a.test/1"), ("urn:x:1", None), ("mailto:a@b.test", None), ("1", None)],
)
def test_rdf_about_is_the_page_of_an_item_without_a_link(about, link):
    items = f'<item rdf:about="{about}"><title>y</title></item>'
    body = f'<rdf:RDF {RDF} xmlns="http://purl.org/rss/1.0/"><channel><title>x</title></channel>{items}</rdf:RDF>'
    assert parse(body.encode(), url=URL).entries[0].link == link


@pytest.mark.parametrize(
    ("items", "titles", "notes"),
    [
        ({"0": {"id": "1", "title": "a"}, "2": {"id": "2", "title": "b"}}, ["a", "b"], ("items_object",)),
        ({}, [], ("items_object",)),
        (None, [], ()),
    ],
)
def test_items_as_some_programs_write_them(items, titles, notes):
    feed = json_feed(items=items)
    assert ([entry.title for entry in feed.entries], feed.notes) == (titles, notes)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"error": "not found", "status": 404}', "json"),
        (b"[]", "json"),
        (b'{"items": [1, 2]}', "json"),
        (b'{"version": "https://jsonfeed.org/version/1.1", "items": "none"}', "json"),
        (b'{"version": "https://jsonfeed.org/version/1.1", "items":', "bad_json"),
        (b"[" * 200_000, "bad_json"),
        *((JSON_ITEM % number, "bad_json") for number in (b"NaN", b"-Infinity", b"1e999", b"9" * 310, b"1" * 100_000)),
        (b'{"version":"https://jsonfeed.org/version/1.1","items":' + b"[" * 200_000, "bad_json"),
    ],
)
def test_json_that_is_no_feed_is_refused(body, code):
    with pytest.raises(NotAFeed) as refused:
        parse(body, url=URL)
    assert refused.value.code == code


def test_numbers_that_a_double_has_are_ids() -> None:
    ids = [
        parse(JSON_ITEM % number, url="https://a.test/f").entries[0].native_id
        for number in (b"7", b"-1", b"123456789012345678901")
    ]
    assert ids == ["7", "-1", "123456789012345678901"]


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ("#comments", None),
        (" #", None),
        ("", None),
        ("https://a.test/feed", None),
        ("https://a.test/feed#entry-1", None),
        ("/feed", None),
        ("/1#top", "https://a.test/1#top"),
        ("https://a.test/", "https://a.test/"),
    ],
)
def test_a_link_to_the_feed_itself_or_a_fragment_is_none(link: str, found: str | None) -> None:
    item = f"<item><title>1</title><link>{link}</link></item>"
    rss = f"<rss><channel><title>T</title><link>https://a.test/</link>{item}</channel></rss>"
    entry = f'<entry><id>1</id><title>1</title><link href="{link}"/></entry>'
    atom = f'<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>{entry}</feed>'
    for document in (rss, atom):
        (entry,) = parse(document.encode(), url="https://a.test/feed").entries
        assert (entry.title, entry.link) == ("1", found)
