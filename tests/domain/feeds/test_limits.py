import json
import time

import pytest

from feedcrawl.domain.errors import NotAFeed
from feedcrawl.domain.feeds import parse

URL = "https://news.example/feed"
RSS = '<rss version="2.0"><channel><title>t</title>{}</channel></rss>'
BUDGET_SEC = 5.0  # of processor time, for what takes a fraction of a second


def read(inside):
    return parse(RSS.format(inside).encode(), url=URL)


def dated(year):
    return f"<item><guid>{year}</guid><pubDate>01 Jan {year} 00:00:00 GMT</pubDate></item>"


@pytest.mark.parametrize(
    ("inside", "note"),
    [
        (f"<title>{'x' * 1_001}</title>", "title_truncated"),
        (f"<author>{'x' * 257}</author>", "author_truncated"),
        (f"<guid>{'x' * 2_084}</guid>", "id_truncated"),
        (f"<category>{'x' * 257}</category>", "category_truncated"),
        ("<category>{}</category>".join(map(str, range(102))), None),
        ("".join(f"<category>{n}</category>" for n in range(101)), "categories_truncated"),
        ("".join(f"<author>{n}</author>" for n in range(101)), "authors_truncated"),
        ("".join(f'<enclosure url="/{n}"/>' for n in range(101)), "enclosures_truncated"),
    ],
)
def test_a_field_beyond_its_limit_is_cut_and_noted(inside, note):
    feed = read(f"<item>{inside}</item>")
    (entry,) = feed.entries
    assert note is None or note in feed.notes
    assert len(entry.title or "") <= 1_000
    assert len(entry.native_id or "") <= 2_083
    assert all(len(person.name or "") <= 256 for person in entry.authors)
    assert max(len(entry.authors), len(entry.categories), len(entry.enclosures), len(entry.links)) <= 100


def test_a_url_is_never_cut():
    feed = read(f"<item><link>https://news.example/{'x' * 2_083}</link><title>x</title></item>")
    assert feed.entries[0].link is None
    assert feed.notes == ("url_too_long",)


def test_a_field_at_its_limit_is_not_cut():
    assert read(f"<item><title>{'x' * 1_000}</title><author>{'x' * 256}</author></item>").notes == ()


def test_a_json_feed_has_the_same_limit_of_entries():
    items = [{"id": str(number)} for number in range(5_001)]
    body = json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "A", "items": items}).encode()
    feed = parse(body, url=URL)
    assert (len(feed.entries), feed.notes) == (5_000, ("entries_truncated",))


@pytest.mark.parametrize("newest_first", [True, False])
def test_the_newest_entries_are_kept(newest_first):
    middle = "<item><title>x</title></item>" * 4_999
    ends = (dated(2024), dated(2004)) if newest_first else (dated(2004), dated(2024))
    feed = read(ends[0] + middle + ends[1])
    assert (len(feed.entries), feed.notes) == (5_000, ("entries_truncated",))
    assert "2024" in {entry.native_id for entry in feed.entries}
    assert "2004" not in {entry.native_id for entry in feed.entries}


HOSTILE = {
    "deep": RSS.format("<item><title>" + "<a>" * 100_000 + "</a>" * 100_000 + "</title></item>"),
    "never closed": "<rss><channel>" + "<item>" * 50_000,
    "attributes": RSS.format("").replace(
        "<channel>", "<channel " + " ".join(f'a{n}="1"' for n in range(100_000)) + ">"
    ),
    "namespaces": "<rss " + " ".join(f'xmlns:n{n}="u{n}"' for n in range(20_000)) + ">" + RSS.format("</rss>"),
    "address": RSS.format(f"<item><author>a@{'a.' * 16_000}!</author></item>"),
    "addresses": RSS.format(f"<item><author>{'a' * 16_000}</author></item>" * 20),
    "address in an unknown root": f"<x><item><title>x</title><author>a@{'a.' * 100_000}!</author></item></x>",
    "brackets": RSS.format(f"<item><author>{'(' * 50_000}</author></item>"),
    "date": RSS.format(f"<item><pubDate>{'1 ' * 50_000}</pubDate></item>"),
    "category": RSS.format(f"<item><category>{',' * 500_000}</category></item>"),
    "CDATA": RSS.format("<item><title><![CDATA[" + "]" * 1_000_000 + "]]></title></item>"),
    "open CDATA": RSS.format("<item><title>" + "<![CDATA[" * 50_000),
    "open comments": RSS.format("<item><title>x</b>" + "<!--" * 100_000),
    "comment": "<!--" + "-" * 1_000_000 + RSS.format(""),
    "open tags": RSS.format("<item><description>" + "&lt;b " * 100_000 + "</description></item>"),
    "quotes": RSS.format("<item><title>" + "<a '\"" * 50_000),
    "odd quotes": RSS.format("<item><title>" + '<a "' * 100_001),
    "declarations": RSS.format("<item><title>" + "<!A " * 100_000),
    "links": RSS.format("<item><description>" + "&lt;a href=" * 50_000 + "</description></item>"),
    "comments in a title": '<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">'
    + "&lt;!--" * 200_000
    + "</title></feed>",
    "sources": RSS.format("<item><description>&lt;img " + 'src="a" ' * 100_000 + "</description></item>"),
    "minutes": RSS.format(f"<ttl>5{' ' * 200_000}x</ttl>"),
    "long names": RSS.format(f"<{'x' * 40_000}/>" * 20),
    "long namespace": f'<rss xmlns:x="{"u" * 1_000_000}">' + RSS.format("") + "</rss>",
    "bases": RSS.format(f'<item xml:base="{"x/" * 100_000}"><link>{"../" * 100_000}</link></item>'),
    "pictures": RSS.format("<item><description>" + "&lt;img src " * 50_000 + "</description></item>"),
    "entities": RSS.format("<item><title>" + "&amp;" * 300_000 + "&nbsp;</title></item>"),
    "bomb": "<!DOCTYPE rss ["
    + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    + "]>"
    + RSS.format("<item><title>&l9;</title></item>"),
    "quadratic": f'<!DOCTYPE rss [<!ENTITY a "{"x" * 100_000}">]>'
    + RSS.format(f"<item><title>{'&a;' * 50_000}</title></item>"),
    "entries in entries": "<entry>" * 300_000,
    "hidden items": "<x>" + "<item>" * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_cost_little(name):
    start = time.process_time()
    try:
        feed = parse(HOSTILE[name].encode(), url=URL)
    except NotAFeed:
        feed = None
    assert time.process_time() - start < BUDGET_SEC
    assert feed is None or len(feed.entries) <= 5_000


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE rss [<!ENTITY x SYSTEM "{}">]>',
        '<!DOCTYPE rss [<!ENTITY % p SYSTEM "{}"> %p;<!ENTITY x "y">]>',
        '<!DOCTYPE rss SYSTEM "{}">',
        '<?xml-stylesheet type="text/xsl" href="{}"?>',
    ],
)
def test_no_file_is_read_for_an_entity(doctype, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("canary-7f3a")
    include = f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" parse="text" href="{secret.as_uri()}"/>'
    for target in (secret.as_uri(), str(secret)):
        body = doctype.format(target) + RSS.format(f"<item><title>[&x;]{include}</title></item>")
        assert "canary" not in repr(parse(body.encode(), url=URL))
