import random
import zlib

import pytest

from feedcrawl.domain.http.sniffing import document_of_links, is_no_text, kind_of

PAGE = "<!doctype html><title>t</title><p>" + "Eine Seite über Äpfel. " * 20


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"%PDF-1.7\n1 0 obj << /Type /Catalog >>", "a PDF"),
        (b"\xef\xbb\xbf%PDF-1.7", "a PDF"),
        (b"PK\x03\x04\x14\x00", "a zip archive"),
        (b"\x1f\x8b\x08\x00", "gzip data"),
        (b"BZh91AY&SY\x00\x01", "bzip2 data"),
        (b"\x89PNG\r\n\x1a\n\x00", "a PNG image"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "a JPEG image"),
        (b"GIF89a\x01\x00\x01\x00", "a GIF image"),
        (b"RIFF\x24\x00\x00\x00WEBPVP8 ", "a RIFF container"),
        (b"\x00\x00\x00\x18ftypmp42\x00", "MP4 media"),
        (b"MZ\x90\x00\x03", "an executable"),
        (b"\x7fELF\x02\x01", "an executable"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an OLE document"),
        # Text that begins with the same letters
        (b"MZ is the sign of a DOS program, and of these <p>initials.", None),
        (b"ID3 tags: a history", None),
        (b"RIFFS and chords", None),
        (b"BZhang writes", None),
        (b"  %PDF- is how a PDF begins", None),
        (b"<!doctype html><p>%PDF-", None),
        (PAGE.encode(), None),
        (PAGE.encode("utf-16"), None),
        (b"", None),
    ],
)
def test_the_first_bytes_show_the_kind_of_a_file(body: bytes, kind: str | None) -> None:
    assert kind_of(body) == kind


NOISE = random.Random(5).randbytes(6000)


@pytest.mark.parametrize(
    "text",
    [
        NOISE.decode("latin-1"),
        NOISE.decode("utf-8", "replace"),
        NOISE.decode("cp1252", "replace"),
        zlib.compress(NOISE).decode("utf-8", "replace"),
        bytes(500).decode(),
        PAGE.encode("utf-16-le").decode("utf-8", "replace"),  # in the wrong encoding nobody can read it
    ],
)
def test_bytes_that_are_no_text_are_recognised(text: str) -> None:
    assert is_no_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        PAGE,
        PAGE + "\x00",
        "a\x0cb\x1b[1m\tc\r\n" * 50,  # form feeds and terminal colours
        "\x00" + PAGE + "\x08",
        "日本語の文章。" * 100,
        PAGE.encode("cp1252").decode("utf-8", "replace"),
        "x" * 5000 + "\x00" * 5000,
    ],
)
def test_text_with_slips_is_text(text: str) -> None:
    assert not is_no_text(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<?xml version='1.0'?>\n<!-- x -->\n<rss version='2.0'><channel/></rss>", "a feed"),
        ("\ufeff <feed xmlns='http://www.w3.org/2005/Atom'/>", "a feed"),
        ("<rdf:RDF xmlns:rdf='x'>", "a feed"),
        ("<?xml version='1.0'?><urlset xmlns='x'><url/></urlset>", "a sitemap"),
        ("<SitemapIndex>", "a sitemap"),
        ("<opml version='2.0'>", "a list of feeds (OPML)"),
        ("<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><body><rss>", None),
        ("<!doctype html><feed>x</feed>", None),
        ("<!DOCTYPE rss PUBLIC 'x' 'y'><rss>", "a feed"),
        ("<p>text about <rss> and <feed></p>", None),
        ("<feedback>", None),
        ("<!--" * 2000, None),
        ("", None),
    ],
)
def test_documents_that_list_pages(text: str, kind: str | None) -> None:
    assert document_of_links(text) == kind
