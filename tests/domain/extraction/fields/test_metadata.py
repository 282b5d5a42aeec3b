import pytest

from feedcrawl.domain.extraction.fields.metadata import (
    find_canonical,
    find_image,
    find_language,
    find_site_name,
    find_tags,
)
from feedcrawl.domain.extraction.page import read_page
from feedcrawl.domain.markup import parse_html
from feedcrawl.domain.models import FeedContent

URL = "https://www.d.example/2026/story?utm_source=x"


def page(head="", url=URL, attributes=""):
    return read_page(f"<html {attributes}><head>{head}</head><body><p>{'text ' * 60}</p></body></html>", url)


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ("<link rel=canonical href=/2026/story>", "https://www.d.example/2026/story"),
        ("<link rel='shortlink canonical' href=https://d.example/s#x>", "https://d.example/s"),
        ("<meta property=og:url content=https://d.example/og><link rel=canonical href=/c>", "https://d.example/og"),
        ("<link rel=canonical href=https://other.example/s>", URL),
        ("<link rel=canonical href=/>", URL),
        ("<meta property=og:url content=/><link rel=canonical href=/c>", "https://www.d.example/c"),
        ("<link rel=canonical href='javascript:1'>", URL),
        ("<link rel=canonical><base href=/b/>", URL),
        ("<base href=/b/><link rel=canonical href=s>", "https://www.d.example/b/s"),
        ("", URL),
    ],
)
def test_find_canonical(head, canonical):
    assert find_canonical(page(head)) == canonical


def test_a_page_of_an_unreadable_url_has_no_canonical_url():
    html = f"<link rel=canonical href=https://d.example/a><p>{'text ' * 60}</p>"
    assert find_canonical(read_page(html, "hard::page.html")) is None


@pytest.mark.parametrize(
    ("head", "attributes", "language"),
    [
        ("", "lang=de", "de"),
        ("", "lang=en_GB", "en-GB"),
        ("", "xml:lang=fr", "fr"),
        ("<meta http-equiv=content-language content=it>", "lang=''", "it"),
        ("<meta property=og:locale content=pt_BR>", "", "pt-BR"),
        ("", "lang='not a language!'", None),
        ("", "", None),
    ],
)
def test_find_language(head, attributes, language):
    assert find_language(page(head, attributes=attributes), None) == language


def test_language_of_the_feed():
    assert find_language(page(), FeedContent(language="sv")) == "sv"


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("<meta property=og:site_name content='The Daily'>", "The Daily"),
        ("<meta name=application-name content=App>", "App"),
        ("<meta property=og:site_name content=https://d.example><meta name=application-name content=App>", "App"),
        ("", "d.example"),
    ],
)
def test_find_site_name(head, name):
    assert find_site_name(page(head)) == name


@pytest.mark.parametrize(
    ("head", "tags"),
    [
        ("<meta property=article:tag content=a><meta property=article:tag content='b, c'>", ("a", "b", "c")),
        ("<meta name=keywords content='x; y,x'>", ("x", "y")),
        ('<script type="application/ld+json">{"@type":"Article","keywords":["k",{"name":"l"},3]}</script>', ("k", "l")),
        ("", ("fed",)),
    ],
)
def test_find_tags(head, tags):
    assert find_tags(page(head), FeedContent(categories=("fed",))) == tags


def content(html):
    return parse_html(f"<body><div>{html}</div>")


@pytest.mark.parametrize(
    ("head", "html", "image"),
    [
        ("<meta property=og:image content=/og.jpg>", "<img src=first.jpg>", "https://www.d.example/og.jpg"),
        ("<meta property=og:image content='data:image/png;base64,x'>", "<img src=/first.jpg>", "https://www.d.example/first.jpg"),
        ("<meta property=og:image content=/clip.mp4><meta name=twitter:image content=/t.jpg>", "", "https://www.d.example/t.jpg"),
        ("", "<img src=/logo.png><img src=/p.gif width=1 height=1><img src=/a.jpg>", "https://www.d.example/a.jpg"),
        ("", "<img src=/s.jpg width=20><img data-src=/lazy.jpg>", "https://www.d.example/lazy.jpg"),
        ("", "<img src=data:image/gif;base64,x data-original=/lazy.jpg>", "https://www.d.example/lazy.jpg"),
        ("", "<img src=/siliconangle.jpg>", "https://www.d.example/siliconangle.jpg"),
        ("", "<img src=/port/sitelogo_2.png><img src=/captcha/7><img src=/up.svg><img src=/a.jpg>", "https://www.d.example/a.jpg"),
        ("", "<img src=/catalogo.jpg>", "https://www.d.example/catalogo.jpg"),
        ("", "<img src='/a.jpg%20300w,%20/b.jpg%20900w'>", "https://www.d.example/b.jpg"),
        ("<meta property=og:image content=/wp-content/themes/x/card.png>", "<img src=/a.jpg>", "https://www.d.example/a.jpg"),
        ("<meta property=og:image content=https://cdn.example/i/blank.jpg>", "<img src=/a.jpg>", "https://www.d.example/a.jpg"),
        ("<meta property=og:image content=https://gravatar.com/blavatar/1?s=200>", "<img src=/a.jpg>", "https://www.d.example/a.jpg"),
        ("<link rel=image_src href=/named.jpg>", "<img src=/a.jpg>", "https://www.d.example/named.jpg"),
        ("<meta itemprop=image content=/named.jpg>", "<img src=/a.jpg>", "https://www.d.example/named.jpg"),
        ("<meta property=og:image content=http://127.0.0.1/x.jpg>", "", "https://f.example/i.jpg"),
        ("", "", "https://f.example/i.jpg"),
    ],
)  # fmt: skip
def test_find_image(head, html, image):
    assert find_image(page(head), content(html), FeedContent(image="https://f.example/i.jpg")) == image
