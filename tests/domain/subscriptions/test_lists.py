import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.subscriptions.list_writing import FORMS, write_opml
from feedcrawl.domain.subscriptions.listed import ListedFeed
from feedcrawl.domain.subscriptions.lists import read_list
from feedcrawl.domain.subscriptions.records import Overrides

FOLDERS = """<?xml version="1.0" encoding="ISO-8859-1"?>
<opml version="1.1"><head><title>mine</title></head><body>
 <outline text="News"><outline text="World">
  <outline text="A" title="A feed" type="rss" xmlUrl="http://a.test/feed" htmlUrl="http://a.test/"/>
 </outline><outline text="B" xmlUrl="http://b.test/feed?x=1&amp;y=2"/></outline>
 <outline title="C" xmlURL=" http://c.test/feed " category="/Tech/Web,Caf\xe9, Tech-Web"/>
 <!-- <outline text="no" xmlUrl="http://no.test/"/> -->
 <outline text="A link" type="link" url="http://no.test/page"/>
</body></opml>"""
READ = [
    ListedFeed("http://a.test/feed", ("News", "World"), "A feed", "http://a.test/"),
    ListedFeed("http://b.test/feed?x=1&y=2", ("News",), "B"),
    ListedFeed("http://c.test/feed", ("Tech-Web", "Caf\xe9"), "C"),
]


def feeds(body: str | bytes, **how):
    return list(read_list(body.encode() if isinstance(body, str) else body, **how).feeds)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-16"])
def test_folders_and_category_attributes_become_categories(encoding: str) -> None:
    text = FOLDERS.replace("ISO-8859-1", {"latin-1": "ISO-8859-1"}.get(encoding, encoding))
    assert feeds(text.encode(encoding)) == READ


@pytest.mark.parametrize(
    ("body", "urls"),
    [
        ('<opml><body><outline text="R&D" xmlUrl="http://a.test/?a=1&b=2"/></body></opml>', ["http://a.test/?a=1&b=2"]),
        ('<opml><body><outline xmlUrl="http://a.test/?a=1&amp;amp;b=2"/></body></opml>', ["http://a.test/?a=1&b=2"]),
        ('<opml><body><outline xmlUrl="http://a.test/"/><outline text="x', ["http://a.test/"]),
        ('<opml><body><outline xmlUrl="http://a.test/"><outline xmlUrl="http://b.test/"/></body>', ["http://a.test/", "http://b.test/"]),
        ('<opml><body><outline text="a" < b xmlUrl="http://x.test/"/><outline xmlUrl="http://b.test/"/></body></opml>', ["http://b.test/"]),
        ("<opml><body><outline xmlUrl='http://a.test/' text='it\x01\x0bs'/></body></opml>", ["http://a.test/"]),
        ('<opml><body><outline text="&nbsp;&foo;" xmlUrl="http://a.test/"/></body></opml>', ["http://a.test/"]),
        ('\n\n<?xml version="1.0"?><opml xmlns="urn:x"><body><outline xmlUrl="http://a.test/"/></body></opml>', ["http://a.test/"]),
        ('<OPML><BODY><OUTLINE TEXT="a" XMLURL="http://a.test/"/></BODY></OPML>', ["http://a.test/"]),
        ('<body><outline xmlUrl="http://a.test/"/></body>', ["http://a.test/"]),
        ('<outline xmlUrl="http://a.test/"/>\n<outline xmlUrl="http://b.test/"/>', ["http://a.test/", "http://b.test/"]),
        ('.x/"/> <outline xmlUrl="http://a.test/"/> <outline xmlUrl="http://b.test/"/></opml>', ["http://a.test/", "http://b.test/"]),
        ('<?xml version="1.0"?><outline><outline xmlUrl="http://a.test/"/></outline><outline>', ["http://a.test/"]),
        (b'<opml><body><outline text="\xff\xfe\xc3" xmlUrl="http://a.test/"/></body></opml>', ["http://a.test/"]),
    ],
)  # fmt: skip
def test_broken_opml_yields_its_feeds(body: str | bytes, urls: list[str]) -> None:
    assert [feed.url for feed in feeds(body)] == urls


def test_text() -> None:
    text = """\ufeff# my feeds
http://a.test/feed#part  news  daily # a comment
  b.test/feed

http://c.test/feed\tnews
"""
    assert feeds(text) == [
        ListedFeed("http://a.test/feed#part", ("news", "daily")),
        ListedFeed("b.test/feed"),
        ListedFeed("http://c.test/feed", ("news",)),
    ]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("", "empty_list"),
        ("# nothing\n\n", "empty_list"),
        ("<opml><body/></opml>", "empty_list"),
        ("<rss><channel/></rss>", "not_a_list"),
        ("<!DOCTYPE html><p>a.b</p>", "not_a_list"),
        ('{"version": "https://jsonfeed.org/version/1.1"}', "not_a_list"),
        ("Not Found", "not_a_list"),
    ],
)
def test_a_document_that_is_no_list_is_refused_with_its_reason(body: str, code: str) -> None:
    with pytest.raises(Refusal) as refused:
        feeds(body)
    assert refused.value.code == code


def test_entities_are_never_expanded(tmp_path) -> None:
    (tmp_path / "secret").write_text("secret")
    body = (
        f'<!DOCTYPE opml [<!ENTITY x SYSTEM "file://{tmp_path}/secret"><!ENTITY y "{"z" * 20}">]>'
        '<opml><body><outline text="&x;" xmlUrl="http://a.test/"/></body></opml>'
    )
    assert "secret" not in str(feeds(body))


def test_limits() -> None:
    outlines = (f'<outline xmlUrl="http://a.test/{number}"/>' for number in range(10_050))
    many = "<opml><body>" + "".join(outlines) + "</body></opml>"
    found = read_list(many.encode(), limit=10_000)
    assert (len(found.feeds), found.left_out) == (10_000, 50)
    assert len(feeds(many)) == 10_050
    deep = '<opml><body><outline xmlUrl="http://a.test/"/>' + '<outline text="f">' * 50_000
    began = time.monotonic()
    assert feeds(deep) == [ListedFeed("http://a.test/")]
    assert time.monotonic() - began < 5
    nested = (
        "<opml><body>" + "".join(f'<outline text="f{n}">' for n in range(100)) + '<outline xmlUrl="http://a.test/"/>'
    )
    assert len(feeds(nested)[0].categories) == 20


@pytest.mark.parametrize(
    "body",
    [
        lambda times: "<opml><outline " + " ".join(f'a{n}="x"' for n in range(times)) + "/></opml>",
        lambda times: "<opml><body>" + '<outline "' * times,
        lambda times: "<opml><body>" + "<!--" * times,
        lambda times: "http://a.test/" + " " * 5 * times + "x",
    ],
    ids=["attributes", "open tags", "open comments", "spaces"],
)
def test_no_list_wears_the_reader_out(body: Callable[[int], str]) -> None:
    def run(times: int) -> None:
        with suppress(Refusal):
            feeds(body(times))

    assert_linear(run, 12_500)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
listed = st.builds(
    ListedFeed, st.just("http://a.test/?a=1&b=<>'\""), st.lists(texts, max_size=3).map(tuple), st.none() | texts
)


@given(st.lists(listed, min_size=1, max_size=5))
def test_a_written_list_is_read_back(written: list[ListedFeed]) -> None:
    read = feeds(write_opml(written))
    assert [feed.url for feed in read] == ["http://a.test/?a=1&b=<>'\""]


def test_opml_keeps_categories_titles_and_sites() -> None:
    written = [
        ListedFeed("http://a.test/", ("news", "x & y"), 'a "b" <c>\x00', "http://a.test/site"),
        ListedFeed("http://b.test/"),
    ]
    assert feeds(write_opml(written)) == [
        ListedFeed("http://a.test/", ("news", "x & y"), 'a "b" <c>', "http://a.test/site"),
        ListedFeed("http://b.test/"),
    ]


SET = Overrides(priority=7, min_interval_sec=600.0, backfill=True)
A = ListedFeed("http://a.test/", ("news", "x"), "A", "http://a.test/site", SET)


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (
            ("url,title,categories,site_url,priority,min_interval_sec,backfill\r\n"
            'http://a.test/,A,"news, x",http://a.test/site,7,600,yes\r\n\r\n'),
            [A],
        ),
        ("Title;Feed URL;Category\nA;http://a.test/;news\n;http://b.test/", [
            ListedFeed("http://a.test/", ("news",), "A"), ListedFeed("http://b.test/"),
        ]),
        ("xmlUrl\tname\nhttp://a.test/\tA", [ListedFeed("http://a.test/", (), "A")]),
        ("url\nhttp://a.test/\n", [ListedFeed("http://a.test/")]),
        ('url,title\nhttp://a.test/,"two\nlines, ""q"""', [ListedFeed("http://a.test/", (), 'two\nlines, "q"')]),
        ("url,title\nhttp://a.test/,'=1+1", [ListedFeed("http://a.test/", (), "=1+1")]),
        ("url,priority,min_interval_sec,max_interval_sec\nhttp://a.test/,11,-5,nan", [ListedFeed("http://a.test/")]),
        ('["http://a.test/", {"url": "http://b.test/"}, 7, {"title": "no"}]', [
            ListedFeed("http://a.test/"), ListedFeed("http://b.test/"),
        ]),
        (
            ('{"feeds": [{"xmlUrl": "http://a.test/", "name": "A", "tags": ["news", "x"], "htmlUrl": "http://a.test/site",'
            ' "priority": 7, "minIntervalSec": "600", "backfill": true}]}'),
            [A],
        ),
        ('[{"url": "http://a.test/", "categories": "news, x", "priority": "high", "backfill": false}]', [
            ListedFeed("http://a.test/", ("news", "x")),
        ]),
        ('http://a.test/ "two words" \'x "#1" # "no"', [ListedFeed("http://a.test/", ("two words", "'x", "#1"))]),
    ],
)  # fmt: skip
def test_tables_and_text(body: str, read: list[ListedFeed]) -> None:
    assert feeds(body) == read


@pytest.mark.parametrize(
    "body", ['{"a": 1}', '{"feeds": {}}', "[1", "[" * 100_000, '["', "7", 'url,t\n"' + "x" * 200_000]
)
def test_tables_that_are_no_lists(body: str) -> None:
    with pytest.raises(Refusal):
        feeds(body)


names = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="/{}"), min_size=1, max_size=10)
written = st.builds(
    ListedFeed,
    st.integers(0, 99).map("http://a.test/{}?a=1&b=<>'".format),
    st.lists(st.builds("{} {}".format, names, names), max_size=3, unique=True).map(tuple),
    st.none() | names,
    st.just("http://a.test/"),
    st.builds(
        Overrides,
        priority=st.none() | st.integers(1, 10),
        min_interval_sec=st.none() | st.integers(1, 10**6).map(float),
        max_interval_sec=st.none() | st.floats(0.5, 1e6),
        backfill=st.booleans(),
        paused=st.booleans(),
        entries_only=st.booleans(),
        user_agent=st.none() | st.just("Reader/1.0 (x, y)"),
        keep_rules=st.sampled_from(["", 'title=a, b\nurl=<x>&"y"']),
        drop_rules=st.sampled_from(["", "author=ann"]),
    ),
)
several = st.lists(written, max_size=4, min_size=1, unique_by=lambda feed: feed.url)


@pytest.mark.parametrize("form", ["opml", "csv", "json"])
@given(found=several)
def test_a_round_trip_keeps_folders_titles_and_overrides(form: str, found: list[ListedFeed]) -> None:
    """A folder holds feeds, not their order: OPML keeps the categories of a feed, in any order."""

    def plain(listed: list[ListedFeed]) -> list[str]:
        return sorted(repr(replace(each, categories=tuple(sorted(each.categories)))) for each in listed)

    assert plain(feeds(FORMS[form](found))) == plain(found)


@given(several)
def test_text_keeps_addresses_and_categories(found: list[ListedFeed]) -> None:
    read = feeds(FORMS["text"](found))
    expected = [(feed.url, tuple(dict.fromkeys(name.replace('"', "'") for name in feed.categories))) for feed in found]
    assert [(feed.url, feed.categories) for feed in read] == expected


def test_a_formula_in_a_title_is_written_as_text() -> None:
    for title in ("=1+1", "+1", "-1", "@x", "'=1", "''=1"):
        table = FORMS["csv"]([ListedFeed("http://a.test/", (), title)]).decode()
        assert table.splitlines()[1].split(",")[1].startswith("'")
        assert feeds(table)[0].title == title


def test_a_folder_whose_name_has_a_comma_is_a_single_category() -> None:
    assert feeds('<opml><outline text="a, b"><outline xmlUrl="http://a.test/"/>')[0].categories == ("a, b",)


def test_a_feed_in_two_folders_is_in_both() -> None:
    found = feeds(
        '<opml><outline text="A"><outline xmlUrl="http://a.test/" title="T"/></outline>'
        '<outline text="B"><outline xmlUrl="http://a.test/" category="C"/><outline xmlUrl="http://b.test/"/></outline>'
    )
    assert found == [ListedFeed("http://a.test/", ("A", "B", "C"), "T"), ListedFeed("http://b.test/", ("B",))]
    exported = write_opml(found[:1]).decode()
    assert exported.count('xmlUrl="http://a.test/"') == 3
    assert exported.count('<outline text="') == 3
    assert feeds(exported) == found[:1]


@pytest.mark.parametrize(
    ("attributes", "counts"),
    [
        ('type="rss" url="http://a.test/"', True),
        ('url="http://a.test/"', True),
        ('type="atom" URL="http://a.test/"', True),
        ('type="link" url="http://a.test/"', False),
        ('type="include" url="http://a.test/"', False),
        ('url=""', False),
    ],
)
def test_url_in_place_of_xml_url(attributes: str, counts: bool) -> None:
    found = feeds(f'<opml><outline text="A" {attributes}/><outline xmlUrl="http://b.test/"/></opml>')
    assert [feed.url for feed in found] == [*(["http://a.test/"] if counts else []), "http://b.test/"]


@given(st.binary(max_size=300))
def test_any_bytes_end_in_a_list_or_a_refusal(body: bytes) -> None:
    for start in (b"", b"url,x\n", b"[", b"<opml><body>", b'<opml><outline xmlUrl="http://a.test/" '):
        with suppress(Refusal):
            read_list(start + body)
