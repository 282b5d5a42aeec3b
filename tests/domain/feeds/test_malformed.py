# ruff: noqa: RUF001 -- the apostrophe that Windows writes
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.errors import NotAFeed
from feedcrawl.domain.feeds import parse

URL = "https://news.example/feed"
RSS = '<rss version="2.0"><channel><title>t</title>{}</channel></rss>'
ITEM = "<item><title>one</title><link>https://news.example/1</link></item>"


def survives(body):
    try:
        return parse(body, url=URL)
    except NotAFeed:
        return None


def titles(feed):
    return [entry.title for entry in feed.entries]


@pytest.mark.parametrize(
    ("inside", "title", "note"),
    [
        ("A&nbsp;B", "A B", "html_entities"),
        ("caf&eacute; &#233; &#xE9;", "café é é", "html_entities"),
        ("AT&T &foo; &", "AT&T &foo; &", "bare_ampersand"),
        ("x &foo; y", "x &foo; y", "unknown_entity"),
        ("a\x08b\x00c\ufffed", "abcd", "control_characters"),
        ("a&#0;b&#xD800;c&#x110000;d&#99999999999;e", "abcde", "bad_reference"),
        ("it&#146;s", "it’s", "html_entities"),
        ("it\x92s", "it’s", "windows_characters"),
        ("<b>bold", "bold", "unclosed_element"),
        ("a</i>b", "ab", "stray_end_tag"),
        ("2 < 3", "2 < 3", None),
        ("a ]]> b", "a ]]> b", None),
        ("<img src=x.png alt=\"a>b\" alt='c'>pic", "pic", "unclosed_element"),
        ("<o:p>x</o:p>", "x", "undeclared_prefix"),
    ],
)
def test_faults_inside_a_title_are_repaired(inside, title, note):
    feed = parse(RSS.format(f"<item><title>{inside}</title></item>{ITEM}").encode("utf-8", "surrogatepass"), url=URL)
    assert titles(feed) == [title, "one"]
    if note and note != "html_entities":
        assert note in feed.notes


def test_sections_are_left_alone_while_characters_are_mended():
    body = RSS.format("<item><title>x &nbsp; y</title><description><![CDATA[a & b &nbsp; <br>]]></description></item>")
    (entry,) = parse(body.encode(), url=URL).entries
    assert entry.summary == "a & b &nbsp; <br>"


def test_prefixes_are_known_even_if_not_declared():
    inside = "<dc:creator>Ann</dc:creator><content:encoded>all</content:encoded><media:thumbnail url='/t.jpg'/>"
    feed = parse(RSS.format(f"<item>{inside}</item>").encode(), url=URL)
    (entry,) = feed.entries
    assert (entry.authors[0].name, entry.content, entry.image) == ("Ann", "all", "https://news.example/t.jpg")
    assert feed.notes == ("undeclared_prefix",)


@pytest.mark.parametrize("declared", ["http://dublincore.org/documents/dcmi-namespace/", "urn:invented"])
def test_a_well_known_prefix_decides_if_its_namespace_is_unknown(declared):
    item = "<item><title>a</title><dc:creator>Ann</dc:creator><dc:date>2024-01-01</dc:date></item>"
    feed = parse(f'<rss version="2.0" xmlns:dc="{declared}"><channel>{item}</channel></rss>'.encode(), url=URL)
    (entry,) = feed.entries
    assert (entry.authors[0].name, entry.published) == ("Ann", datetime(2024, 1, 1, tzinfo=UTC))
    assert entry.raw is not None
    assert f'<item xmlns:dc="{declared}">'.encode() in entry.raw


@pytest.mark.parametrize("space", ["http://purl.org/dc/elements/1.1/", "http://purl.org/dc/terms/"])
def test_dublin_core_in_both_of_its_namespaces(space):
    item = "<dc:title>a</dc:title><dc:creator>Ann</dc:creator><dc:date>2024-01-01</dc:date><dc:subject>b</dc:subject>"
    body = f'<rss version="2.0" xmlns:dc="{space}"><channel><item>{item}</item></channel></rss>'
    (entry,) = parse(body.encode(), url=URL).entries
    assert (entry.title, entry.authors[0].name, entry.categories) == ("a", "Ann", ("b",))
    assert entry.published == datetime(2024, 1, 1, tzinfo=UTC)


def test_a_known_namespace_decides_whatever_its_prefix_is():
    space = 'xmlns:dc="http://search.yahoo.com/mrss/" xmlns:other="urn:invented"'
    item = "<item><dc:creator>Ann</dc:creator><other:author>Bob</other:author><title>a</title></item>"
    (entry,) = parse(f'<rss version="2.0" {space}><channel>{item}</channel></rss>'.encode(), url=URL).entries
    assert entry.authors == ()


@pytest.mark.parametrize(
    "before",
    [
        "\n\n<?xml version='1.0'?>",
        "\ufeff \ufeff<?xml version='1.0'?>",
        "<!-- <rss> is what follows --><?xml version='1.0'?>",
        "<?php warning ?>\n<?xml version='1.0'?>",
        "<!DOCTYPE rss PUBLIC '-//X//DTD' 'http://127.0.0.1:9/x.dtd'>",
        "<!DOCTYPE rss [<!ELEMENT rss ANY>\n<!ENTITY % x SYSTEM 'file:///etc/passwd'> %x;]>",
        "<b>Warning</b>: on line 3<br />\n<?xml version='1.0'?>",
        "{debug} <?xml version='1.0'?>",
        "<html><body>moved</body></html><?xml version='1.0'?>",
    ],
)
def test_junk_before_the_root(before):
    assert titles(parse((before + RSS.format(ITEM)).encode(), url=URL)) == ["one"]


@pytest.mark.parametrize("after", ["junk", "<!-- x", "<rss><channel><item/></channel></rss>", "</rss>", "\0\0", "<?x"])
def test_junk_after_the_root(after):
    assert titles(parse((RSS.format(ITEM) + after).encode(), url=URL)) == ["one"]


def test_entities_of_the_doctype():
    doctype = (
        '<!DOCTYPE rss [<!ENTITY who "Ann"><!ENTITY deep "&who;&who;"><!ENTITY file SYSTEM "file:///etc/passwd">]>'
    )
    feed = parse((doctype + RSS.format("<item><title>&who; [&deep;] [&file;]</title></item>")).encode(), url=URL)
    assert titles(feed) == ["Ann [&deep;] [&file;]"]


@pytest.mark.parametrize("cut", range(60, 190, 7))
def test_a_truncated_document_loses_no_entry_before_the_cut(cut):
    body = RSS.format(
        ITEM + "<item><title>two</title><description><![CDATA[<p>more</p>]]></description></item>"
    ).encode()
    assert titles(parse(body[: 60 + len(ITEM) + cut % 70], url=URL))[0] == "one"


@pytest.mark.parametrize(
    ("inside", "found", "cut_off"),
    [
        (f"{ITEM}<item><title>tw", ["one"], True),
        (f"{ITEM}<item><title>two</title><link>https://news.example/tw", ["one"], True),
        (f"{ITEM}<item><title>two</title><description><![CDATA[<p>a</p><p>b", ["one"], True),
        (f"{ITEM}<item><title>two</title><link>https://news.example/two</link><description>ha", ["one", "two"], True),
        (f"{ITEM}<item><title>two</title><guid>2</guid><link>https://news.example/tw", ["one", "two"], True),
        ("<item><title>on", [], True),
        (ITEM, ["one"], False),
        (f"{ITEM}<item><title>two</title></item><langu", ["one", "two"], False),
        ("<item><title>one</title><item><title>two</title>", ["one", "two"], False),  # its entries are never closed
    ],
)
def test_of_an_entry_in_which_a_document_ends_the_cut_part_is_left_out(inside, found, cut_off):
    feed = parse(RSS.format(inside).removesuffix("</channel></rss>").encode(), url=URL)
    assert (titles(feed), feed.is_truncated, "entry_cut_off" in feed.notes) == (found, True, cut_off)


def test_half_a_link_and_half_a_summary_are_none():
    cut = (
        "<item><title>two</title><guid>2</guid><description>ha",
        "<item><title>two</title><guid>2</guid><link>https://n",
    )
    entries = [parse(RSS.format(inside).removesuffix("</channel></rss>").encode(), url=URL).entries for inside in cut]
    assert [(entry.native_id, entry.link, entry.summary) for (entry,) in entries] == [("2", None, None)] * 2


def test_an_entry_without_end_before_the_end_of_the_root_stays():
    feed = parse(RSS.format(f"{ITEM}<item><title>two</title>").encode(), url=URL)
    assert (titles(feed), feed.is_truncated) == (["one", "two"], False)


@pytest.mark.parametrize(
    "inside",
    [
        f"<language>en{ITEM}{ITEM}",
        f"<item><title>zero</title>{ITEM}",
        f"<image><url>/x.png</url>{ITEM}{ITEM}",
        f"{ITEM}<item><title>zero</title><description><p>a<br>b</p><b>c</description></item>",
        f"<link>https://news.example/{ITEM}<item><title>x</title></item>",
        f"<item><title>a <!-- never closed</title></item>{ITEM}",
        f"<item><title>a <![CDATA[ never closed</title></item>{ITEM}",
        f'<item><title>a</title><a href="never closed</item>{ITEM}',
    ],
)
def test_a_forgotten_end_swallows_no_entry(inside):
    found = parse(RSS.format(inside).encode(), url=URL)
    assert len(found.entries) == 2
    assert "one" in titles(found)


@pytest.mark.parametrize(
    "body",
    [
        f'<rss version="2.0"><channel xmlns="urn:invented">{ITEM}</channel></rss>',
        f'<rss version="2.0"><channel><posts>{ITEM}</posts></channel></rss>',
        f'<rss version="2.0"><channel/>{ITEM}</rss>',
        f'<x:rss xmlns:x="urn:invented" version="2.0"><x:channel>{ITEM}</x:channel></x:rss>',
    ],
)
def test_entries_in_unusual_places(body):
    assert titles(parse(body.encode(), url=URL)) == ["one"]


def test_a_channel_that_lost_its_root():
    body = f"<channel><title>t</title><link>https://news.example/</link>{ITEM}</channel>"
    feed = parse(body.encode(), url=URL)
    assert (feed.format, feed.title, titles(feed)) == ("rss", "t", ["one"])


def test_an_unknown_root_is_read_by_feedparser():
    feed = parse(f"<newsfeed><title>t</title>{ITEM}<item><guid>2</guid></item></newsfeed>".encode(), url=URL)
    assert titles(feed) == ["one", None]
    assert feed.entries[0].link == "https://news.example/1"
    assert feed.notes == ("structure_unknown",)


def test_an_author_of_whom_nothing_is_known_is_no_author():
    body = "<newsfeed><item><title>one</title><author><name></name></author></item></newsfeed>"
    feed = parse(body.encode(), url=URL)
    assert [entry.authors for entry in feed.entries] == [()]


@pytest.mark.parametrize("content_type", ["text/html", "text/plain; charset=utf-8", "application/octet-stream"])
def test_the_body_decides_the_format_and_not_the_content_type(content_type):
    feed = parse(RSS.format(ITEM).encode(), url=URL, content_type=content_type)
    assert titles(feed) == ["one"]
    assert feed.notes == ("wrong_content_type",)


DOCUMENT = RSS.format(ITEM + "<item><title>a &amp; b</title><description><![CDATA[<p>x</p>]]></description></item>")
PIECES = st.sampled_from(
    ["<", ">", "&", "</item>", "<item>", "<![CDATA[", "]]>", "<!--", "-->", '"', "<?", "<b", "&#0;", "<a:b>"]
)


@given(st.integers(0, len(DOCUMENT)), st.integers(0, 12), st.lists(PIECES | st.text(max_size=4), max_size=4))
def test_any_damage_ends_in_a_feed_or_a_refusal(place, lost, inserted):
    body = DOCUMENT[:place] + "".join(inserted) + DOCUMENT[place + lost :]
    feed = survives(body.encode("utf-8", "surrogatepass"))
    for entry in feed.entries if feed else ():
        (entry.raw or b"").decode()


@given(st.binary(max_size=300))
def test_any_bytes_end_in_a_feed_or_a_refusal(body):
    survives(body)
