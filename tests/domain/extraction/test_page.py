import pytest

from feedcrawl.domain.extraction.page import decode, once_per_page, read_page
from feedcrawl.domain.text import text_of

FILLER = "<p>" + "text " * 60


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("größe".encode(), "größe"),
        (b"\xef\xbb\xbfx", "x"),
        ("Die größe, sagte er für alle hörbar.".encode("latin-1"), "Die größe, sagte er für alle hörbar."),
        ('<meta charset="shift_jis">日本'.encode("shift_jis"), '<meta charset="shift_jis">日本'),
        ('<meta charset="iso-2022-jp">日本'.encode("iso-2022-jp"), '<meta charset="iso-2022-jp">日本'),
        ('<meta charset="latin-1">größe'.encode(), '<meta charset="latin-1">größe'),
        ("x".encode("utf-16"), "x"),
    ],
)
def test_decode(data, text):
    assert decode(data) == text


def test_metas():
    page = read_page(
        f'<meta name="Author" content=" Ann  Lee "><meta property="og:image" content="a">'
        f'<meta property="og:image" content="b">'
        f'<meta itemprop="x" name="y" content="z"><meta name="empty" content="">{FILLER}',
        "https://a.example/",
    )
    assert page.metas["author"] == ("Ann Lee",)
    assert page.metas["og:image"] == ("a", "b")
    assert page.meta("x") == page.meta("y") == "z"
    assert page.meta("empty", "missing", "author") == "Ann Lee"
    assert page.meta("missing") is None


@pytest.mark.parametrize(
    ("attributes", "content"),
    [
        ("content=story", "story"),
        ("value=story", "story"),
        ("content=story value=other", "story"),
        ("content='{{ page.title }}'", None),
        ("content='${title}'", None),
        ("content='<%= title %>'", None),
        ("content='Ports with {{ braces }}'", "Ports with {{ braces }}"),
    ],
)
def test_content_of_a_meta_element(attributes, content):
    assert read_page(f"<meta name=og:title {attributes}>{FILLER}", "https://a.example/").meta("og:title") == content


@pytest.mark.parametrize(
    ("fallback", "shown"),
    [
        ("<p>The harbour froze over in the night, for the first time since the bridge was built.</p>" * 7, True),
        ("<p>The harbour froze over in the night, for the first time since the bridge was built.</p>", False),
        ("<p><a href=/>Please switch on scripts to read what we have written for you today.</a></p>" * 9, False),
        ("Text without any element in it, which is markup that libraries did not read. " * 9, False),
    ],
)
def test_a_story_for_readers_without_scripts_is_shown(fallback, shown):
    page = read_page(f"<div><script>show()</script><noscript>{fallback}</noscript></div>{FILLER}", "https://a.example/")
    assert any("harbour" in line for line in page.lines) is shown
    assert (next(page.tree.iter("noscript"), None) is None) is shown


@pytest.mark.parametrize(
    ("head", "declared"),
    [
        ("<meta property=og:type content=article>", True),
        ("<meta property=article:published_time content=2026-01-01>", True),
        ('<script type="application/ld+json">{"@type":"Article","headline":"x"}</script>', True),
        ("<meta property=og:type content=website>", False),
        ('<script type="application/ld+json">{"@type":"Article"}</script>', False),
    ],
)
def test_is_declared(head, declared):
    assert read_page(head + FILLER, "https://a.example/").is_declared is declared


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("/b/", "https://a.example/b/"),
        ("javascript:1", "https://a.example/x"),
        ("http://[", "https://a.example/x"),
        ("", "https://a.example/x"),
    ],
)
def test_base(base, url):
    assert read_page(f'<base href="{base}">{FILLER}', "https://a.example/x").base == url


def test_text_of():
    page = read_page(f"<h1>One<br>two <b>th</b>ree</h1>{FILLER}", "https://a.example/")
    assert text_of(page.tree.find(".//h1")) == "One two three"


def test_a_judgement_is_made_once_for_each_page():
    pages = [read_page(f"<title>{name}</title>{FILLER}", "https://a.example/") for name in "ab"]
    judged = []

    @once_per_page
    def is_first(page):
        judged.append(page.title_element)
        return None if page.title_element == "b" else "first"

    assert [is_first(page) for page in [*pages, *pages]] == ["first", None, "first", None]
    assert judged == ["a", "b"]
