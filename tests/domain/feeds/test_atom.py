import base64
from datetime import UTC, datetime

import pytest

from feedcrawl.domain.feeds import parse
from feedcrawl.domain.models import Enclosure, Link, Person

URL = "https://news.example/feeds/all.atom"


def atom(inside, attributes=""):
    return parse(f'<feed xmlns="http://www.w3.org/2005/Atom" {attributes}>{inside}</feed>'.encode(), url=URL)


def entry(inside, attributes=""):
    (found,) = atom(f"<entry>{inside}</entry>", attributes).entries
    return found


def test_every_field_of_an_atom_feed():
    feed = atom(
        """
        <id>tag:feed</id><title>The News</title><subtitle type="html">All &lt;b&gt;news&lt;/b&gt;</subtitle>
        <updated>2024-01-01T10:00:00Z</updated><logo>/logo.png</logo><icon>/icon.png</icon>
        <author><name>Ed</name><email>ed@news.example</email><uri>/ed</uri></author>
        <category term="world" label="World"/><generator uri="https://g.example/">Press</generator>
        <link href="/"/><link rel="self" href="/feed"/><link rel="hub" href="https://hub.example/"/>
        <link rel="next" href="?page=2"/><complete xmlns="http://purl.org/syndication/history/1.0"/>
        """,
        'xml:lang="en"',
    )
    assert (feed.format, feed.title, feed.description) == ("atom1.0", "The News", "All <b>news</b>")
    assert (feed.link, feed.self_url) == ("https://news.example/", "https://news.example/feed")
    assert (feed.language, feed.updated) == ("en", datetime(2024, 1, 1, 10, tzinfo=UTC))
    assert (feed.image, feed.generator) == ("https://news.example/logo.png", "Press")
    assert feed.authors == (Person("Ed", "ed@news.example", "https://news.example/ed"),)
    assert (feed.categories, feed.hubs) == (("world",), ("https://hub.example/",))
    assert (feed.paging.next, feed.paging.complete) == (f"{URL}?page=2", True)


def test_every_field_of_an_atom_entry():
    found = entry(
        """
        <id>tag:1</id><title>One</title><published>2024-01-01T10:00:00+01:00</published><updated>2024-01-02T00:00:00Z</updated>
        <link href="/1" type="text/html" title="Page"/><link rel="replies" href="/1/comments"/>
        <link rel="enclosure" href="/a.mp3" type="audio/mpeg" length="123"/>
        <summary>Short</summary><content type="html">&lt;p&gt;Long&lt;/p&gt;</content>
        <author><name>Ann</name></author><author><name>Bob</name></author><category term="a"/><category term="b"/>
        """
    )
    assert (found.native_id, found.link, found.title) == ("tag:1", "https://news.example/1", "One")
    assert (found.summary, found.content) == ("Short", "<p>Long</p>")
    assert (found.published, found.updated) == (
        datetime(2024, 1, 1, 9, tzinfo=UTC),
        datetime(2024, 1, 2, tzinfo=UTC),
    )
    assert found.authors == (Person("Ann"), Person("Bob"))
    assert (found.categories, found.comments_url) == (("a", "b"), "https://news.example/1/comments")
    assert found.enclosures == (Enclosure("https://news.example/a.mp3", "audio/mpeg", 123),)
    assert found.links[0] == Link("https://news.example/1", "alternate", "text/html", "Page")


@pytest.mark.parametrize(
    ("links", "page"),
    [
        ('<link rel="replies" type="application/atom+xml" href="/c.atom"/>', "https://news.example/c.atom"),
        (
            '<link rel="replies" type="text/xml" href="/c"/><link rel="replies" type="text/html" href="/1#c"/>',
            "https://news.example/1#c",
        ),
        ('<link rel="replies" href="/c"/><link rel="alternate" type="text/html" href="/1"/>', "https://news.example/c"),
        ('<link rel="alternate" type="text/html" href="/1"/>', None),
    ],
)
def test_the_page_of_comments_is_preferred_to_their_feed(links, page):
    assert entry(links).comments_url == page


def test_updated_is_not_published():
    found = entry("<updated>2024-01-02T00:00:00Z</updated>")
    assert (found.published, found.updated) == (None, datetime(2024, 1, 2, tzinfo=UTC))


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("<content>1 &lt; 2</content>", "1 < 2"),
        ('<content type="html">&lt;b&gt;x&lt;/b&gt;</content>', "<b>x</b>"),
        (
            '<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">a <b>x</b><br/></div></content>',
            "a <b>x</b><br>",
        ),
        (
            '<content type="xhtml"><h:div xmlns:h="http://www.w3.org/1999/xhtml">a &lt;<h:b>x</h:b></h:div></content>',
            "a &lt;<b>x</b>",
        ),
        ('<content type="html"><div>a &lt;b&gt;x&lt;/b&gt;</div></content>', "a <b>x</b>"),
        ('<content type="application/xml"><b>x</b></content>', "<b>x</b>"),
        ('<content type="application/atom+xml">&lt;x/&gt;</content>', "&lt;x/&gt;"),
        (f'<content type="application/octet-stream">{base64.b64encode(b"<b>x</b>").decode()}</content>', "<b>x</b>"),
        ('<content type="image/png">AP8=</content>', "AP8="),
        (
            """<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><s:svg xmlns:s="http://www.w3.org/2000/svg">
            <s:a xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="#x"/></s:svg></div></content>""",
            '<svg xmlns="http://www.w3.org/2000/svg">\n            <a xlink:href="#x"></a></svg>',
        ),
    ],
)
def test_kinds_of_text(content, value):
    assert entry(content).content == value


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ("<title>&lt;b&gt;x&lt;/b&gt;</title>", "<b>x</b>"),
        ('<title type="html">&lt;b&gt;x&lt;/b&gt; &amp;amp; y</title>', "x & y"),
        ('<title type="html">The &amp;lt;b&amp;gt; tag</title>', "The &lt;b&gt; tag"),
        ("<title>vector&lt;int&gt; &amp;amp; list</title>", "vector<int> &amp; list"),
        ('<title type="html">The &amp;lt;video&amp;gt; tag</title>', "The <video> tag"),
        ('<title type="text">How to use &lt;b&gt; and &lt;p&gt;</title>', "How to use <b> and <p>"),
        ('<title type="html">How to use &lt;b&gt;one&lt;br&gt;two</title>', "How to use one two"),
        (
            '<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">The &lt;b&gt;<br/>of <i>x</i></div></title>',
            "The &lt;b&gt; of x",
        ),
        ('<title type="html">x&lt;sup&gt;2&lt;/sup&gt;</title>', "x2"),
        ('<title type="html">&lt;img alt="a &lt;b&gt; c"/&gt;cat</title>', "cat"),
        ('<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><b>x</b> y</div></title>', "x y"),
    ],
)
def test_titles_are_plain_text(title, plain):
    assert entry(title).title == plain


def test_bases_and_languages_are_inherited():
    found = entry(
        '<link href="1"/><content type="html" xml:base="deep/">&lt;a href="x"&gt;x&lt;/a&gt;</content>',
        'xml:base="https://other.example/base/" xml:lang="fr"',
    )
    assert found.link == "https://other.example/base/1"
    assert found.content == '<a href="https://other.example/base/deep/x">x</a>'
    assert found.language == "fr"
    assert entry('<content xml:lang="de">x</content>').language == "de"


@pytest.mark.parametrize(
    ("id_", "attributes", "native_id"),
    [
        ("tag:1", 'xml:base="https://other.example/"', "tag:1"),
        ("/1", 'xml:base="https://other.example/"', "https://other.example/1"),
        ("/1", "", "/1"),
        ("HTTPS://News.Example/%7e", "", "HTTPS://News.Example/%7e"),
    ],
)
def test_ids_stay_as_written_unless_the_publisher_gives_a_base(id_, attributes, native_id):
    assert entry(f"<id>{id_}</id>", attributes).native_id == native_id


@pytest.mark.parametrize(
    ("inside", "link"),
    [
        ('<link href="/1"/>', "https://news.example/1"),
        (
            '<link rel="alternate" type="application/pdf" href="/1.pdf"/><link type="text/html" href="/1"/>',
            "https://news.example/1",
        ),
        ('<link href="/1"/><link rel="alternate" type="application/json" href="/1.json"/>', "https://news.example/1"),
        ('<link rel="alternate" type="application/json" href="/1.json"/>', "https://news.example/1.json"),
        ('<link rel="related" href="/2"/>', None),
        ('<link rel="http://www.iana.org/assignments/relation/alternate" href="/1"/>', "https://news.example/1"),
        ('<link/><link href="/1"/>', "https://news.example/1"),
        ("<id>https://news.example/1</id>", "https://news.example/1"),
        ("<id>urn:uuid:1</id>", None),
        ('<id>urn:uuid:1</id><content src="/1" type="text/html"/>', "https://news.example/1"),
        ('<id>urn:uuid:1</id><content src="/1"/>', "https://news.example/1"),
        ('<content src="/1.mp4" type="video/mp4"/>', None),
        ('<link href="/2"/><content src="/1" type="text/html"/>', "https://news.example/2"),
    ],
)
def test_the_page_of_an_entry(inside, link):
    assert entry(inside).link == link


def test_an_entry_copied_from_elsewhere_has_the_author_of_its_source():
    assert entry("<source><author><name>Ann</name></author></source>").authors == (Person("Ann"),)
    assert entry("<author><name>Bob</name></author><source><author><name>Ann</name></author></source>").authors == (
        Person("Bob"),
    )


def test_entries_inside_entries_are_theirs():
    assert len(atom("<entry><x xmlns='urn:x'><entry xmlns='http://www.w3.org/2005/Atom'/></x></entry>").entries) == 1


def test_an_entry_document_is_a_feed_with_a_single_entry():
    feed = parse(b'<entry xmlns="http://www.w3.org/2005/Atom"><id>tag:1</id><title>One</title></entry>', url=URL)
    assert (feed.format, [found.native_id for found in feed.entries]) == ("atom1.0", ["tag:1"])


def test_atom_03():
    feed = parse(
        b"""<feed version="0.3" xmlns="http://purl.org/atom/ns#" xml:lang="en">
        <title mode="escaped" type="text/html">The &lt;b>News&lt;/b></title><tagline>All</tagline>
        <modified>2024-01-01T00:00:00Z</modified><link rel="alternate" href="/"/>
        <entry><id>tag:1</id><issued>2024-01-01T00:00:00Z</issued><modified>2024-01-02T00:00:00Z</modified>
        <content mode="base64" type="text/html">PGI+eDwvYj4=</content><author><name>Ann</name><url>/ann</url></author>
        </entry></feed>""",
        url=URL,
    )
    assert (feed.format, feed.title, feed.description) == ("atom0.3", "The News", "All")
    (found,) = feed.entries
    assert (found.published, found.updated) == (datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC))
    assert (found.content, found.authors) == ("<b>x</b>", (Person("Ann", None, "https://news.example/ann"),))


@pytest.mark.parametrize("space", ["", "urn:invented", "http://example.com/necho", "HTTPS://WWW.W3.ORG/2005/ATOM/"])
def test_namespaces_that_are_wrong_or_missing(space):
    body = f'<feed version="0.3" xmlns="{space}"><title>x</title><entry><title>y</title></entry></feed>'
    feed = parse(body.encode(), url=URL)
    assert (feed.title, feed.entries[0].title) == ("x", "y")
