"""feedparser is the reference reader: on ordinary documents ours must say the same."""

import io

import feedparser
import pytest

from feedcrawl.domain.feeds import parse

URL = "https://news.example/feeds/all.xml"
RSS = """<?xml version="1.0"?><rss version="{version}" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom">
<channel><title>The &amp;amp; News</title><link>https://news.example/</link><description>All news</description>
<language>en-gb</language><ttl>30</ttl><atom:link rel="self" href="https://news.example/feed"/>
<item><title>One &lt; two</title><link>/1</link><guid>https://news.example/1</guid>
<author>ann@news.test (Ann)</author>
<category>a</category><category>b</category>
<pubDate>Mon, 01 Jan 2024 10:00:00 EST</pubDate>
<description>&lt;p&gt;Short &lt;a href="/x"&gt;x&lt;/a&gt;&lt;/p&gt;</description></item>
<item><title><![CDATA[Two & three]]></title><link>https://news.example/2?a=1&amp;b=2</link><dc:creator>Bob</dc:creator>
<content:encoded><![CDATA[<p>Long</p>]]></content:encoded>
<enclosure url="https://news.example/a.mp3" length="5" type="audio/mpeg"/></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de" xml:base="https://news.example/base/">
<title>News</title><subtitle>All</subtitle><link href="/"/><updated>2024-01-01T00:00:00Z</updated>
<author><name>Ed</name></author>
<entry><id>tag:1</id><title type="html">A &lt;b&gt;bold&lt;/b&gt; one</title><link href="1"/>
<published>2024-01-01T10:00:00+01:00</published>
<updated>2024-01-02T00:00:00Z</updated><summary>Short</summary><category term="a"/>
<author><name>Ann</name><email>a@b.example</email></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Long <a href="x">x</a></p></div></content>
</entry></feed>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel rdf:about="https://news.example/"><title>News</title><link>https://news.example/</link></channel>
<item rdf:about="https://news.example/1"><title>One</title><link>https://news.example/1</link></item></rdf:RDF>"""
DOCUMENTS = {
    "rss 2.0": RSS.format(version="2.0"),
    "rss 0.92": RSS.format(version="0.92"),
    "atom": ATOM,
    "rdf": RDF,
    "entities": RSS.format(version="2.0").replace("One ", "One&nbsp;caf&eacute; "),
    "unclosed": RSS.format(version="2.0").replace("</item>", "<br></item>"),
    "truncated": RSS.format(version="2.0").replace("</channel></rss>", ""),
}
FORMATS = {"rss20": "rss2.0", "rss092": "rss0.92", "rss10": "rss1.0", "atom10": "atom1.0"}


def instant(parsed):
    return tuple(parsed[:6]) if parsed else None


def facts_of_ours(feed):
    return [
        (feed.format, feed.title, feed.link, feed.description, feed.language),
        *(
            (
                entry.native_id,
                entry.link,
                entry.title,
                entry.content or entry.summary,
                [person.name for person in entry.authors],
                [person.email for person in entry.authors],
                list(entry.categories),
                [(enclosure.url, enclosure.type, enclosure.length) for enclosure in entry.enclosures],
                entry.published and instant(entry.published.utctimetuple()),
            )
            for entry in feed.entries
        ),
    ]


def facts_of_theirs(parsed):
    feed = parsed.feed
    return [
        (FORMATS[parsed.version], plain(feed.title), feed.get("link"), feed.get("subtitle"), feed.get("language")),
        *(
            (
                entry.get("id"),
                entry.link,
                plain(entry.title),
                entry.content[0].value if "content" in entry else entry.get("summary"),
                [person.get("name") for person in entry.get("authors", [])],
                [person.get("email") for person in entry.get("authors", [])],
                [tag.term for tag in entry.get("tags", [])],
                [(item.href, item.type, int(item.length)) for item in entry.enclosures],
                instant(entry.get("published_parsed")),
            )
            for entry in parsed.entries
        ),
    ]


def plain(title):
    return title.replace("<b>", "").replace("</b>", "").replace("&amp;", "&").replace("\xa0", " ")


def bare(facts):
    """Facts with the spelling of empty elements made one."""
    return repr(facts).replace("<br />", "<br>").replace("</br>", "").replace("<br>", "")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_feedparser_and_our_parser_agree(name):
    body = DOCUMENTS[name].encode()
    theirs = feedparser.parse(io.BytesIO(body), response_headers={"content-location": URL}, sanitize_html=False)
    assert bare(facts_of_ours(parse(body, url=URL))) == bare(facts_of_theirs(theirs))
