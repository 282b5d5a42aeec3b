import json
from collections.abc import Callable
from contextlib import suppress

import pytest
from growth import assert_linear

from feedcrawl.domain.errors import NotAFeed
from feedcrawl.domain.feeds import parse

URL = "https://news.example/feed"
RSS = '<rss version="2.0"><channel><title>t</title>{}</channel></rss>'


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


HOSTILE: dict[str, tuple[Callable[[int], str], int]] = {
    "deep": (lambda n: RSS.format(f"<item><title>{'<a>' * n}{'</a>' * n}</title></item>"), 12_500),
    "never closed": (lambda n: "<rss><channel>" + "<item>" * n, 6_000),
    "attributes": (
        lambda n: RSS.format("").replace("<channel>", "<channel " + " ".join(f'a{i}="1"' for i in range(n)) + ">"),
        12_500,
    ),
    "namespaces": (
        lambda n: "<rss " + " ".join(f'xmlns:n{i}="u{i}"' for i in range(n)) + ">" + RSS.format("</rss>"),
        2_500,
    ),
    "address": (lambda n: RSS.format(f"<item><author>a@{'a.' * n}!</author></item>"), 2_000),
    "addresses": (lambda n: RSS.format(f"<item><author>{'a' * n}</author></item>" * 20), 2_000),
    "address in an unknown root": (
        lambda n: f"<x><item><title>x</title><author>a@{'a.' * n}!</author></item></x>",
        12_500,
    ),
    "brackets": (lambda n: RSS.format(f"<item><author>{'(' * n}</author></item>"), 6_000),
    "date": (lambda n: RSS.format(f"<item><pubDate>{'1 ' * n}</pubDate></item>"), 6_000),
    "category": (lambda n: RSS.format(f"<item><category>{',' * n}</category></item>"), 60_000),
    "CDATA": (lambda n: RSS.format(f"<item><title><![CDATA[{']' * n}]]></title></item>"), 125_000),
    "open CDATA": (lambda n: RSS.format(f"<item><title>{'<![CDATA[' * n}"), 6_000),
    "open comments": (lambda n: RSS.format(f"<item><title>x</b>{'<!--' * n}"), 12_500),
    "comment": (lambda n: f"<!--{'-' * n}{RSS.format('')}", 125_000),
    "open tags": (lambda n: RSS.format(f"<item><description>{'&lt;b ' * n}</description></item>"), 12_500),
    "quotes": (lambda n: RSS.format("<item><title>" + "<a '\"" * n), 6_000),
    "odd quotes": (lambda n: RSS.format("<item><title>" + '<a "' * (n + 1)), 12_500),
    "declarations": (lambda n: RSS.format("<item><title>" + "<!A " * n), 12_500),
    "links": (lambda n: RSS.format(f"<item><description>{'&lt;a href=' * n}</description></item>"), 6_000),
    "comments in a title": (
        lambda n: f"<feed xmlns='http://www.w3.org/2005/Atom'><title type='html'>{'&lt;!--' * n}</title></feed>",
        25_000,
    ),
    "sources": (lambda n: RSS.format("<item><description>&lt;img " + 'src="a" ' * n + "</description></item>"), 12_500),
    "minutes": (lambda n: RSS.format(f"<ttl>5{' ' * n}x</ttl>"), 25_000),
    "long names": (lambda n: RSS.format(f"<{'x' * n}/>" * 20), 5_000),
    "long namespace": (lambda n: f"<rss xmlns:x='{'u' * n}'>{RSS.format('')}</rss>", 125_000),
    "bases": (
        lambda n: RSS.format(f"<item xml:base='{'x/' * n}'><link>{'../' * n}</link></item>"),
        12_500,
    ),
    "pictures": (lambda n: RSS.format(f"<item><description>{'&lt;img src ' * n}</description></item>"), 6_000),
    "entities": (lambda n: RSS.format(f"<item><title>{'&amp;' * n}&nbsp;</title></item>"), 40_000),
    "large entity": (
        lambda n: (
            f"<!DOCTYPE rss [<!ENTITY a '{'x' * 2 * n}'>]>" + RSS.format(f"<item><title>{'&a;' * n}</title></item>")
        ),
        6_000,
    ),
    "entries in entries": (lambda n: "<entry>" * n, 40_000),
    "hidden items": (lambda n: "<x>" + "<item>" * n, 2_500),
}


def read_or_refused(document: str) -> None:
    with suppress(NotAFeed):
        assert len(parse(document.encode(), url=URL).entries) <= 5_000


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_take_linear_time(name: str) -> None:
    document, size = HOSTILE[name]
    assert_linear(lambda times: read_or_refused(document(times)), size)


def test_entities_of_entities_are_not_expanded() -> None:
    """Each level is ten times as large as that before."""

    def document(levels: int) -> str:
        entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, levels + 1))
        return f"<!DOCTYPE rss [{entities}]>" + RSS.format(f"<item><title>&l{levels};</title></item>")

    assert_linear(lambda levels: read_or_refused(document(levels)), 2)


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
