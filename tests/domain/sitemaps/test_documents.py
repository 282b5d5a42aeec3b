import gzip
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.errors import NotASitemap
from feedcrawl.domain.models import News, ParsedSitemap, SitemapRef, SitemapUrl
from feedcrawl.domain.sitemaps import documents

URL = "https://news.example/sitemap.xml"
NEWS = b"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"
        xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <!-- <url><loc>https://news.example/commented</loc></url> -->
  <url>
    <loc> https://news.example/a?x=1&amp;y=2 </loc>
    <lastmod>2024-05-06T07:08:09+02:00</lastmod><changefreq>Daily</changefreq><priority>0.8</priority>
    <news:news>
      <news:publication><news:name>The Example</news:name><news:language>en</news:language></news:publication>
      <news:publication_date>2024-05-06</news:publication_date><news:title><![CDATA[This & that]]></news:title>
    </news:news>
    <image:image><image:loc>https://news.example/1.jpg</image:loc></image:image>
    <image:image><image:loc>https://news.example/2.jpg</image:loc></image:image>
  </url>
  <url><loc>https://news.example/b</loc><changefreq>often</changefreq><priority>11</priority></url>
</urlset>"""
INDEX = b"""<sitemapindex><sitemap><loc>https://news.example/1.xml.gz</loc><lastmod>2024-05-06</lastmod></sitemap>
<sitemap><loc>/2.xml</loc></sitemap></sitemapindex>"""


def urlset(inner: bytes) -> bytes:
    return b"<urlset>" + inner + b"<url><loc>https://news.example/last</loc></url></urlset>"


def test_the_refusal_of_a_feed_says_how_to_subscribe_to_it() -> None:
    with pytest.raises(NotASitemap, match="`subscribe URL`"):
        documents.parse(b"<rss><channel/></rss>", url=URL)


@pytest.mark.parametrize(
    ("body", "found", "truncated"),
    [
        (b"<urlset><url><loc>https://a.test/1</loc></url><url><loc>https://a.te", ["https://a.test/1"], True),
        (b"<urlset><url><loc>https://a.test/1</loc></url><url><loc>https://a.test/2</loc>", ["https://a.test/1"], True),
        (b"<s:urlset><s:url><s:loc>https://a.test/1</s:loc></s:url>", ["https://a.test/1"], True),
        (b"<urlset><url><loc>https://a.te", [], True),
        (b"<urlset><url><loc>https://a.test/1</loc></url></urlset>junk", ["https://a.test/1"], False),
        (b"<urlset/>", [], False),
    ],
)
def test_a_url_in_which_a_document_ends_is_left_out(body: bytes, found: list[str], truncated: bool) -> None:
    parsed = documents.parse(body, url=URL)
    assert ([each.loc for each in parsed.urls], documents.TRUNCATED in parsed.notes) == (found, truncated)


def locs(body: bytes) -> list[str]:
    return [entry.loc for entry in documents.parse(body, url=URL).urls]


def test_every_field():
    assert documents.parse(NEWS, url=URL) == ParsedSitemap(
        "urlset",
        urls=(
            SitemapUrl(
                loc="https://news.example/a?x=1&y=2",
                lastmod=datetime(2024, 5, 6, 5, 8, 9, tzinfo=UTC),
                changefreq="daily",
                priority=0.8,
                news=News("The Example", "en", datetime(2024, 5, 6, tzinfo=UTC), "This & that"),
                images=("https://news.example/1.jpg", "https://news.example/2.jpg"),
            ),
            SitemapUrl("https://news.example/b"),
        ),
    )


def test_index():
    assert documents.parse(INDEX, url=URL) == ParsedSitemap(
        "index",
        sitemaps=(
            SitemapRef("https://news.example/1.xml.gz", datetime(2024, 5, 6, tzinfo=UTC)),
            SitemapRef("https://news.example/2.xml"),
        ),
    )


@pytest.mark.parametrize(
    "body",
    [
        b"https://news.example/a\nhttps://news.example/b\n",
        b"\xef\xbb\xbfhttps://news.example/a\r\n\r\nnotes\r\nhttps://news.example/b",
        gzip.compress(b"\n https://news.example/a\rhttps://news.example/b"),
    ],
)
def test_text(body):
    parsed = documents.parse(body, url=URL)
    assert parsed.kind == "text"
    assert [entry.loc for entry in parsed.urls] == ["https://news.example/a", "https://news.example/b"]


@pytest.mark.parametrize(
    "document",
    [
        gzip.compress(NEWS),
        b"\n \n" + NEWS,
        b"\xef\xbb\xbf" + NEWS,
        b"<b>Warning</b>: something in line 3\n" + NEWS,
        NEWS.replace(b"UTF-8", b"utf8mb4"),
        NEWS.decode().replace("UTF-8", "UTF-16").encode("utf-16"),
        NEWS.decode().encode("utf-16"),
        NEWS.replace(b"xmlns", b"ymlns"),
        NEWS.replace(b"/0.9", b"/0.84"),
        NEWS.replace(b"y=2", b"y=2").replace(b"&amp;", b"&"),
        NEWS.replace(b"</changefreq>", b"<</changefreq>"),
        NEWS.replace(b"<url>", b"<URL>").replace(b"</url>", b"</URL>"),
        NEWS.replace(b"<url>", b"<x:note at=1>&nbsp;</x:note><url>", 1),
        NEWS + b"<p>trailing",
        NEWS.removesuffix(b"</urlset>"),
    ],
)
def test_faults_of_a_sitemap_are_tolerated(document):
    parsed = documents.parse(document, url=URL)
    first = parsed.urls[0]
    assert [entry.loc for entry in parsed.urls] == ["https://news.example/a?x=1&y=2", "https://news.example/b"]
    assert (first.news is not None, len(first.images)) == (True, 2)


@pytest.mark.parametrize(
    ("markup", "loc"),
    [
        (b"https://news.example/?a=1&b=2&copy;", "https://news.example/?a=1&b=2©"),
        (b"https://news.example/?a=1&amp;amp;b=2&amp;#038;c=3", "https://news.example/?a=1&b=2&c=3"),
        (b"/x?a=1&amp;amp;b=2", "https://news.example/x?a=1&b=2"),
        (b"https://news.example/?a&#38;b", "https://news.example/?a&b"),
        (b"<![CDATA[https://news.example/?a=1&amp=2]]>", "https://news.example/?a=1&amp=2"),
        (b"HTTPS://news.example/x", "HTTPS://news.example/x"),
        (b"../x", "https://news.example/x"),
    ],
)
def test_locations(markup, loc):
    assert locs(urlset(b"<url><loc>" + markup + b"</loc></url>"))[0] == loc


@pytest.mark.parametrize(
    "loc",
    [b"", b"javascript:alert(1)", b"file:///etc/passwd", b"ftp://news.example/a", b"https://a.example/" + b"a" * 9999],
)
def test_entries_without_a_web_url_are_left_out(loc):
    parsed = documents.parse(urlset(b"<url><loc>" + loc + b"</loc></url>"), url=URL)
    assert [entry.loc for entry in parsed.urls] == ["https://news.example/last"]
    assert parsed.notes == ("1 entries without a web URL left out",)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "empty"),
        (b" \n\0", "empty"),
        (b"\x1f\x8b\x08", "empty"),
        (b"<!doctype html><title>Sign in</title>", "html"),
        (b"<html><body>Sign in</body></html>", "html"),
        (b'<rss version="2.0"><channel/></rss>', "feed"),
        (b'<feed xmlns="http://www.w3.org/2005/Atom"/>', "feed"),
        (b"<opml/>", "other_xml"),
        (b'{"urls": []}', "not_xml"),
        (b"Page not found", "not_xml"),
        (b"https://news.example/ is the address of a page that tells more", "text"),
        (bytes(range(256)) * 10, "not_xml"),
    ],
)
def test_refusals(body, code):
    with pytest.raises(NotASitemap) as refusal:
        documents.parse(body, url=URL)
    assert refusal.value.code == code


def test_entities_are_neither_expanded_nor_fetched():
    declarations = (
        b'<!DOCTYPE urlset [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/hostname">]>'
    )
    assert locs(declarations + urlset(b"<url><loc>https://news.example/&b;&f;</loc></url>"))[0] == (
        "https://news.example/&b;&f;"
    )
    assert locs(declarations + urlset(b"<url><loc>&f;</loc></url><url><loc>/a?b&amp;c</loc></url>"))[0] == (
        "https://news.example/a?b&c"
    )


def test_caps(monkeypatch):
    monkeypatch.setattr(documents, "MAX_URLS", 2)
    monkeypatch.setattr(documents, "MAX_SITEMAPS", 1)
    for body in (urlset(b"<url><loc>https://news.example/a</loc></url>" * 5), b"https://news.example/a\n" * 5):
        parsed = documents.parse(body, url=URL)
        assert (len(parsed.urls), parsed.notes) == (2, ("over_limit: not read to its end",))
    assert documents.parse(urlset(b"<url><loc>https://news.example/a</loc></url>"), url=URL).notes == ()
    assert len(documents.parse(INDEX, url=URL).sitemaps) == 1
    monkeypatch.setattr(documents, "MAX_BYTES", len(NEWS) - 100)
    assert any(note.startswith("cut at") for note in documents.parse(NEWS, url=URL).notes)


def test_elements_without_entries_are_not_read_for_ever(monkeypatch):
    monkeypatch.setattr(documents, "MAX_EVENTS", 100)
    assert locs(urlset(b"<x/>" * 10)) == ["https://news.example/last"]
    for junk in (b"<x/>" * 100, b"<url>" + b"<x/>" * 100 + b"</url>"):
        parsed = documents.parse(urlset(junk), url=URL)
        assert (parsed.urls, parsed.notes[0]) == ((), "over_limit: not read to its end")


def test_nesting_beyond_the_parsers_limit_ends_the_reading():
    deep = urlset(b"<url><loc>https://news.example/a</loc></url><url>" + b"<x>" * 1000)
    parsed = documents.parse(deep, url=URL)
    assert [entry.loc for entry in parsed.urls] == ["https://news.example/a"]
    assert "depth" in parsed.notes[0]


@given(st.binary(max_size=200).map(urlset) | st.text(max_size=100).map(str.encode) | st.binary(max_size=100))
def test_any_bytes_are_a_sitemap_or_refused(body):
    try:
        parsed = documents.parse(body, url=URL)
    except NotASitemap:
        return
    assert all(entry.loc.lower().startswith(("http://", "https://")) for entry in parsed.urls)


PAGE = "<url><loc>https://news.example/a</loc></url>"
PART = "<sitemap><loc>https://news.example/s.xml</loc></sitemap>"
STRAY = "<sitemap> in a urlset"


@pytest.mark.parametrize(
    ("document", "kind", "urls", "sitemaps", "notes"),
    [
        (f"<urlset>{PART}</urlset>", "index", [], ["/s.xml"], (STRAY,)),
        (f"<urlset>{PAGE}{PART}</urlset>", "urlset", ["/a"], ["/s.xml"], (STRAY,)),
        (f"<sitemapindex>{PAGE}</sitemapindex>", "urlset", ["/a"], [], ("<url> in an index",)),
        (f"<sitemapindex>{PART}{PAGE}</sitemapindex>", "urlset", ["/a"], ["/s.xml"], ("<url> in an index",)),
        ("<sitemapindex><sitemap>https://news.example/s.xml</sitemap></sitemapindex>", "index", [], ["/s.xml"], ()),
        ("<urlset><url> https://news.example/a </url></urlset>", "urlset", ["/a"], [], ()),
        (
            f"<urlset><url>see below</url>{PAGE}</urlset>",
            "urlset",
            ["/a"],
            [],
            ("1 entries without a web URL left out",),
        ),
        ("# our pages\n\n  # more\nhttps://news.example/a\n", "text", ["/a"], [], ("comments in a text list",)),
        ("https://news.example/a#part\n# end\n", "text", ["/a#part"], [], ()),
        ("<urlset></urlset>", "urlset", [], [], ("no_urls: the document lists no web URL",)),
        ("<sitemapindex/>", "index", [], [], ("no_urls: the document lists no web URL",)),
    ],
)
def test_documents_off_the_schema(document, kind, urls, sitemaps, notes):
    found = documents.parse(document.encode(), url=URL)
    assert found.kind == kind
    assert [each.loc for each in found.urls] == [f"https://news.example{path}" for path in urls]
    assert [each.loc for each in found.sitemaps] == [f"https://news.example{path}" for path in sitemaps]
    assert found.notes == notes
