from datetime import UTC, datetime

import pytest

from feedcrawl.domain.feeds import parse
from feedcrawl.domain.models import Enclosure, Link, Person

URL = "https://news.example/feeds/all.xml"
SPACES = (
    'xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"'
    ' xmlns:media="http://search.yahoo.com/mrss/" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"'
    ' xmlns:fh="http://purl.org/syndication/history/1.0" xmlns:wfw="http://wellformedweb.org/CommentAPI/"'
)


def channel(inside):
    return parse(f'<rss version="2.0" {SPACES}><channel>{inside}</channel></rss>'.encode(), url=URL)


def item(inside):
    (entry,) = channel(f"<item>{inside}</item>").entries
    return entry


def test_every_field_of_a_channel():
    feed = channel(
        """
        <title>The News</title><link>/</link><description>All &lt;b&gt;news&lt;/b&gt;</description>
        <language>en_GB</language><lastBuildDate>Mon, 01 Jan 2024 10:00:00 GMT</lastBuildDate>
        <image><url>/logo.png</url><title>Not the title</title><link>/not-the-link</link></image>
        <managingEditor>ed@news.example (Ed Itor)</managingEditor><category>World</category><category>World</category>
        <generator>Press 2</generator><ttl>60</ttl>
        <skipHours><hour>1</hour><hour>24</hour></skipHours><skipDays><day>Sunday</day></skipDays>
        <sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>
        <atom:link rel="self" href="https://news.example/feed"/><atom:link rel="hub" href="https://hub.example/"/>
        <atom:link rel="next" href="?page=2"/><atom:link rel="prev-archive" href="/2023"/><fh:archive/>
        """
    )
    assert (feed.format, feed.encoding, feed.notes) == ("rss2.0", "utf-8", ())
    assert (feed.title, feed.link, feed.description) == ("The News", "https://news.example/", "All <b>news</b>")
    assert (feed.language, feed.updated) == ("en-GB", datetime(2024, 1, 1, 10, tzinfo=UTC))
    assert (feed.image, feed.generator) == ("https://news.example/logo.png", "Press 2")
    assert feed.authors == (Person("Ed Itor", "ed@news.example"),)
    assert feed.categories == ("World",)
    assert (feed.self_url, feed.hubs) == ("https://news.example/feed", ("https://hub.example/",))
    assert (feed.hints.ttl_minutes, feed.hints.update_period_sec) == (60, 1800)
    assert (feed.hints.skip_hours, feed.hints.skip_days) == ({0, 1}, {"Sun"})
    assert (feed.paging.next, feed.paging.prev_archive) == (f"{URL}?page=2", "https://news.example/2023")
    assert (feed.paging.archive, feed.paging.complete) == (True, False)


def test_every_field_of_an_item():
    entry = item(
        """
        <title>A &amp;amp; B &lt;i&gt;go&lt;/i&gt;</title><link>https://news.example/1</link>
        <guid isPermaLink="false">tag:1</guid><description>&lt;a href="/x"&gt;x&lt;/a&gt;</description>
        <content:encoded><![CDATA[<p>All of it</p>]]></content:encoded>
        <dc:creator>Jane Doe</dc:creator><category domain="d">News</category><dc:subject>World</dc:subject>
        <pubDate>Mon, 01 Jan 2024 10:00:00 +0100</pubDate><atom:updated>2024-01-02T00:00:00Z</atom:updated>
        <enclosure url="/a.mp3" length="123" type="audio/mpeg"/>
        <media:group><media:content url="/v.mp4" medium="video" fileSize="9"/>
        <media:thumbnail url="/t.jpg"/></media:group>
        <comments>https://news.example/1#comments</comments><dc:language>de</dc:language>
        """
    )
    assert (entry.native_id, entry.link, entry.title) == ("tag:1", "https://news.example/1", "A & B go")
    assert (entry.summary, entry.content) == ('<a href="https://news.example/x">x</a>', "<p>All of it</p>")
    assert (entry.authors, entry.categories) == ((Person("Jane Doe"),), ("News", "World"))
    assert entry.published == datetime(2024, 1, 1, 9, tzinfo=UTC)
    assert entry.published_raw == "Mon, 01 Jan 2024 10:00:00 +0100"
    assert entry.updated == datetime(2024, 1, 2, tzinfo=UTC)
    assert entry.enclosures == (
        Enclosure("https://news.example/a.mp3", "audio/mpeg", 123),
        Enclosure("https://news.example/v.mp4", None, 9),
    )
    assert entry.links == (
        Link("https://news.example/1", "alternate"),
        Link("https://news.example/a.mp3", "enclosure", "audio/mpeg"),
    )
    assert (entry.image, entry.language) == ("https://news.example/t.jpg", "de")
    assert entry.comments_url == "https://news.example/1#comments"


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("/1/comments", "https://news.example/1/comments"),
        ("comments.php?id=1", "https://news.example/feeds/comments.php?id=1"),
        (" https://talk.example/1 ", "https://talk.example/1"),
        ("12", None),
        ("A fine article.", None),
        ("see https://talk.example/1", None),
        ("", None),
    ],
)
def test_the_page_of_comments_is_an_address(stated: str, expected: str | None) -> None:
    assert item(f"<comments>{stated}</comments>").comments_url == expected


def test_a_missing_field_is_none_or_empty():
    entry = item("")
    assert entry.raw is not None
    assert entry.raw.startswith(b"<item")
    assert (entry.native_id, entry.link, entry.title, entry.summary, entry.content) == (None,) * 5
    assert (entry.published, entry.updated, entry.published_raw, entry.image, entry.comments_url) == (None,) * 5
    assert (entry.links, entry.authors, entry.categories, entry.enclosures) == ((),) * 4


def test_raw_is_exactly_the_entry():
    first, second = channel("<item><title>one</title></item>\n<item><title>ü</title></item>").entries
    assert first.raw is not None
    assert second.raw is not None
    assert first.raw.startswith(b"<item")
    assert first.raw.endswith(b"<title>one</title></item>")
    assert "<title>ü</title>".encode() in second.raw


@pytest.mark.parametrize(
    ("version", "format_"),
    [("0.91", "rss0.91"), ("0.92", "rss0.92"), ("2.0", "rss2.0"), ("2", "rss2.0"), ("2.0.1", "rss2.0"), ("x", "rss")],
)
def test_versions(version, format_):
    assert parse(f'<rss version="{version}"><channel/></rss>'.encode(), url=URL).format == format_


@pytest.mark.parametrize(
    ("inside", "link"),
    [
        ("<link> https://a.example/x?a=1&amp;b=2\n</link>", "https://a.example/x?a=1&b=2"),
        ("<link>https://a.example/x?a=1&amp;amp;b=2&amp;#038;c=3</link>", "https://a.example/x?a=1&b=2&c=3"),
        ("<link>https://a.example/x?a=1&amp;amp;amp;b=2&amp;x26;amp</link>", "https://a.example/x?a=1&b=2&x26;amp"),
        ("<link>x</link>", "https://news.example/feeds/x"),
        ("<link>//a.example/x</link>", "https://a.example/x"),
        ("<guid>https://a.example/1</guid>", "https://a.example/1"),
        ('<guid isPermaLink="true">https://a.example/1</guid>', "https://a.example/1"),
        ('<guid isPermaLink="false">https://a.example/1</guid>', None),
        ("<guid>1</guid>", None),
        ("<guid>2024/1</guid>", None),
        ('<guid isPermaLink="true">1</guid>', None),
        ('<guid isPermaLink="true">Vol. 3/4</guid>', None),
        ('<guid isPermaLink="true">/2024/1</guid>', "https://news.example/2024/1"),
        ('<guid isPermaLink="true">2024/1/</guid>', "https://news.example/feeds/2024/1/"),
        ('<guid isPermaLink="true" xml:base="https://a.example/">one/</guid>', "https://a.example/one/"),
        ("<link>https://a.example/1</link><guid>https://a.example/2</guid>", "https://a.example/1"),
        ("<link></link><guid>https://a.example/2</guid>", "https://a.example/2"),
        ('<atom:link href="https://a.example/1"/>', "https://a.example/1"),
        ('<media:player url="https://a.example/play"/>', "https://a.example/play"),
        ('<media:content url="/a.mp4"><media:player url="/play"/></media:content>', "https://news.example/play"),
        ('<media:player url="/play"/><link>https://a.example/1</link>', "https://a.example/1"),
        ('<media:player url="/play"/><guid>https://a.example/2</guid>', "https://a.example/2"),
        ("<media:player/>", None),
        ('<atom:link rel="self" href="https://a.example/1"/>', None),
        ("<link>javascript:alert(1)</link>", None),
        ("<link>mailto:a@b.example</link>", None),
        ("<link>file:///etc/passwd</link>", None),
        ("<link>https://</link>", None),
        ("<link>https://[</link>", None),
        ("<link>https://a.example/1</link><link>https://a.example/2</link>", "https://a.example/2"),
    ],
)
def test_the_page_of_an_item(inside, link):
    assert item(inside).link == link


@pytest.mark.parametrize(
    ("written", "link"),
    [
        ("www.a.example/1", "https://www.a.example/1"),
        ("WWW.A.example", "https://WWW.A.example"),
        ("\u200bhttp://a.example/1\ufeff", "http://a.example/1"),
        ("&lt;![CDATA[ https://a.example/1 ]]&gt;", "https://a.example/1"),
        ("http:///a.example/1", "http://a.example/1"),
        ("http:/a.example/1", "http://a.example/1"),
        ("http:a.example/1", "http://a.example/1"),
        ("https//a.example/1", "https://a.example/1"),
    ],
)
def test_a_mistyped_beginning_of_a_link_is_mended(written, link):
    feed = channel(f"<item><link>{written}</link></item>")
    assert (feed.entries[0].link, feed.notes) == (link, ("link_mended",))


@pytest.mark.parametrize("path", ["www/1", "www.html", "http/1.html", "https:/1", "wwwa.example/1"])
def test_a_relative_link_is_not_mended(path):
    feed = channel(f"<item><link>{path}</link></item>")
    assert feed.entries[0].link.startswith("https://news.example/")
    assert feed.notes == ()


@pytest.mark.parametrize(
    ("line", "person"),
    [
        ("Jane Doe", Person("Jane Doe")),
        ("jane@a.example (Jane Doe)", Person("Jane Doe", "jane@a.example")),
        ("Jane Doe &lt;jane@a.example&gt;", Person("Jane Doe", "jane@a.example")),
        ("Jane Doe (jane@a.example)", Person("Jane Doe", "jane@a.example")),
        ("Jane Doe (mailto:jane@a.example)", Person("Jane Doe", "jane@a.example")),
        ("jane@a.example", Person(None, "jane@a.example")),
        ("Jane @ Example", Person("Jane @ Example")),
        ("Doe, Jane", Person("Doe, Jane")),
        ("Doe, Jane &lt;jane@a.example&gt;", Person("Doe, Jane", "jane@a.example")),
        ("<![CDATA[Se&#225;n O&#8217;Brien]]>", Person("Seán O\u2019Brien")),
        ('<![CDATA[<a href="/jane" rel="author">Jane Doe</a>]]>', Person("Jane Doe")),
        ("jane@a.example (&lt;b&gt;Jane&lt;/b&gt; Doe)", Person("Jane Doe", "jane@a.example")),
        ("Doe &amp;amp; Sons", Person("Doe & Sons")),
        ("Jane &lt;3 news&amp;notes", Person("Jane <3 news&notes")),
    ],
)
def test_an_author_with_name_and_address_is_split(line, person):
    assert item(f"<author>{line}</author>").authors == (person,)
    assert item(f"<dc:creator>{line}</dc:creator>").authors == (person,)


@pytest.mark.parametrize(
    "line",
    [
        "Jane Doe &lt;jane@a.example&gt;, bob@a.example (Bob)",
        "jane@a.example (Jane Doe); Bob &lt;bob@a.example&gt;",
        "jane@a.example (Jane Doe)/Bob (bob@a.example)",
    ],
)
def test_several_authors_in_a_line_are_told_apart_by_their_addresses(line):
    persons = (Person("Jane Doe", "jane@a.example"), Person("Bob", "bob@a.example"))
    assert item(f"<author>{line}</author>").authors == persons


@pytest.mark.parametrize(
    ("written", "term"),
    [
        ("<![CDATA[Health &amp; Fitness]]>", "Health &amp; Fitness"),
        ("Caf&amp;eacute; &lt;b&gt;Bar&lt;/b&gt;", "Caf&eacute; <b>Bar</b>"),
        ("news&amp;notes", "news&notes"),
        ("a &lt;b&gt; c", "a <b> c"),
    ],
)
def test_a_category_is_a_term_as_written(written, term):
    assert item(f"<category>{written}</category>").categories == (term,)
    assert channel(f"<category>{written}</category>").categories == (term,)


@pytest.mark.parametrize("name", ["itunes:author", "googleplay:author"])
def test_the_author_of_an_episode(name):
    assert item(f"<{name}>Jane Doe</{name}>").authors == (Person("Jane Doe"),)


@pytest.mark.parametrize(
    ("inside", "summary"),
    [
        ("<itunes:subtitle>Sub</itunes:subtitle>", "Sub"),
        ("<itunes:subtitle>Sub</itunes:subtitle><googleplay:description>All</googleplay:description>", "All"),
        ("<itunes:subtitle>Sub</itunes:subtitle><itunes:summary>All</itunes:summary>", "All"),
        ("<itunes:subtitle>Sub</itunes:subtitle><description>All</description>", "All"),
    ],
)
def test_the_summary_of_an_episode(inside, summary):
    assert item(inside).summary == summary


@pytest.mark.parametrize(
    ("inside", "persons"),
    [
        ("<name></name>", ()),
        ("<name> </name><email/>", ()),
        ("<b>Jane</b> Doe", (Person("Jane Doe"),)),
        ("Jane Doe<br/>", (Person("Jane Doe"),)),
        ("<name>Jane Doe</name><b>x</b>", (Person("Jane Doe"),)),
    ],
)
def test_markup_in_an_author_is_no_name(inside, persons):
    assert item(f"<author>{inside}</author>").authors == persons


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ("One\n  two", "One two"),
        ("AT&amp;T", "AT&T"),
        ("AT&amp;amp;T", "AT&T"),
        ("2 &lt; 3", "2 < 3"),
        ("I &lt;3 you", "I <3 you"),
        ("&lt;b&gt;Bold&lt;/b&gt; move", "Bold move"),
        ("The &lt;blink&gt; tag", "The &lt;blink&gt; tag"),
        ("C++ vector&lt;int&gt; &amp; list", "C++ vector<int> & list"),
        ("C++ vector&amp;lt;int&amp;gt; &amp;amp; list", "C++ vector<int> & list"),
        ("The &lt;video&gt;, &lt;dl&gt; and &lt;template&gt; elements", "The <video>, <dl> and <template> elements"),
        ("E = mc&lt;sup&gt;2&lt;/sup&gt; &lt;i&gt;again&lt;/i&gt;", "E = mc2 again"),
        ("How to use &lt;b&gt; and &lt;p&gt;", "How to use &lt;b&gt; and &lt;p&gt;"),
        ("How to use &amp;lt;b&amp;gt; and &amp;lt;p&amp;gt;", "How to use &lt;b&gt; and &lt;p&gt;"),
        ("<![CDATA[How to use <b>]]>", "How to use &lt;b&gt;"),
        ("<![CDATA[How to use &lt;b&gt;]]>", "How to use &lt;b&gt;"),
        ("The &lt;i&gt; tag, unlike &lt;em&gt;", "The &lt;i&gt; tag, unlike &lt;em&gt;"),
        ("The &lt;img&gt; tag", "The tag"),
        ("&lt;p&gt;One &amp;amp; all", "One & all"),
        ("&lt;font color=red&gt;Cut &lt;i&gt;short", "Cut &lt;i&gt;short"),
        ("One&lt;br&gt;two&lt;br/&gt;three", "One two three"),
        ("&lt;h2&gt;One&lt;/h2&gt;&lt;p&gt;two&lt;/p&gt;", "One two"),
        ("&lt;b&gt;O&lt;/b&gt;ne", "One"),
        ("<![CDATA[Tom & <b>Jerry</b>]]>", "Tom & Jerry"),
        ("<![CDATA[It&#8217;s]]>", "It’s"),  # noqa: RUF001
        ("<b>naked</b> markup", "naked markup"),
        ("left\u202eright\u200b", "leftright"),
    ],
)
def test_titles_are_plain_text(title, plain):
    assert item(f"<title>{title}</title>").title == plain


def test_podcasts():
    feed = channel(
        """
        <itunes:author>The Hosts</itunes:author><itunes:image href="/cover.jpg"/>
        <itunes:summary>About</itunes:summary>
        <itunes:category text="Arts"><itunes:category text="Books"/></itunes:category>
        <itunes:keywords>a, b,</itunes:keywords>
        <item><itunes:title>One</itunes:title><itunes:image href="/one.jpg"/>
        <itunes:author>Ann</itunes:author></item>
        """
    )
    assert (feed.authors, feed.image) == ((Person("The Hosts"),), "https://news.example/cover.jpg")
    assert (feed.categories, feed.description) == (("a", "b", "Arts", "Books"), "About")
    (entry,) = feed.entries
    assert (entry.title, entry.image, entry.authors) == ("One", "https://news.example/one.jpg", (Person("Ann"),))


@pytest.mark.parametrize(
    ("inside", "image"),
    [
        ('<enclosure url="/a.jpg" type="image/jpeg"/>', "https://news.example/a.jpg"),
        ('<media:content url="/a.jpg" medium="image"/>', "https://news.example/a.jpg"),
        (
            '<media:content url="/a.mp4" medium="video"><media:thumbnail url="/t.jpg"/></media:content>',
            "https://news.example/t.jpg",
        ),
        ("<description>&lt;img src='/a.jpg'&gt;</description>", "https://news.example/a.jpg"),
        (
            "<description>&lt;img width='1' src='/p.gif'&gt; &lt;img alt='' src='/a.jpg'&gt;</description>",
            "https://news.example/a.jpg",
        ),
        ("<description>&lt;img src='data:image/png;base64,x'&gt;</description>", None),
    ],
)
def test_pictures(inside, image):
    assert item(inside).image == image


def test_a_second_description_is_content():
    entry = item("<description>short</description><summary>long</summary>")
    assert (entry.summary, entry.content) == ("short", "long")
    entry = item("<description>same</description><summary>same</summary>")
    assert (entry.summary, entry.content) == ("same", None)


def test_naked_markup_is_read_as_if_escaped():
    assert item("<description>An <b>unescaped</b><br/>tag &amp; more</description>").summary == (
        "An <b>unescaped</b><br>tag &amp; more"
    )


@pytest.mark.parametrize(
    ("html", "absolute"),
    [
        ('<a href="x">', '<a href="https://news.example/feeds/x">'),
        ("<img alt=\"a\" src='/x?a=1&amp;b=2'>", "<img alt=\"a\" src='https://news.example/x?a=1&amp;b=2'>"),
        ("<a href=//a.example/x>", '<a href="https://a.example/x">'),
        ('<a href="https://a.example/x">', '<a href="https://a.example/x">'),
        ('<a href="mailto:a@b.example">', '<a href="mailto:a@b.example">'),
        ('<a href="#part">', '<a href="#part">'),
        ('<a href="">', '<a href="">'),
        (
            '<video src="v" poster=p>',
            '<video src="https://news.example/feeds/v" poster="https://news.example/feeds/p">',
        ),
        ("href=x < y", "href=x < y"),
    ],
)
def test_links_in_texts_become_absolute(html, absolute):
    assert item(f"<description><![CDATA[{html}]]></description>").summary == absolute
