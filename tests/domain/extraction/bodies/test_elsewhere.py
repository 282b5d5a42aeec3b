import pytest

from feedcrawl.domain.extraction.bodies.elsewhere import leads_elsewhere, leads_to_article, names_of_sites
from feedcrawl.domain.markup import parse_html


def linked(*hrefs):
    links = "".join(f"<a href='{href}'>a link</a>" for href in hrefs)
    return parse_html(f"<html><body><div>{links}</div></body></html>")


@pytest.mark.parametrize(
    ("urls", "expected"),
    [
        (("https://www.site.example.com/story", None), {"example"}),
        (("https://one.github.io/", "https://example.co.uk/"), {"one", "example"}),
        (("http://[", "", "/story"), set()),
    ],
)
def test_names_of_sites(urls, expected):
    assert names_of_sites(*urls) == expected


@pytest.mark.parametrize(
    ("hrefs", "expected"),
    [
        (("https://shop.test/item",), True),
        (("https://shop.test/item", "https://www.facebook.com/shop"), True),
        (("https://shop.test/item", "/more"), False),
        (("/story", "https://www.example.com/other"), False),
        (("https://www.example.co.uk/story",), False),
        (("#part",), False),
        (("https://www.facebook.com/sharer?u=1", "https://x.com/intent/post"), False),
        (("http://[broken", "https://shop.test/"), False),
        ((), False),
    ],
)
def test_leads_elsewhere(hrefs, expected):
    assert leads_elsewhere(linked(*hrefs), frozenset({"example"})) is expected


@pytest.mark.parametrize(
    ("hrefs", "expected"),
    [
        (("/story",), True),
        (("#part", "/story"), True),
        (("#",), True),
        (("#part",), False),
        (("https://shop.test/item",), False),
    ],
)
def test_leads_to_article(hrefs, expected):
    assert leads_to_article(linked(*hrefs), frozenset({"example"})) is expected


def test_a_page_without_a_site_has_no_elsewhere():
    assert not leads_elsewhere(linked("https://shop.test/item"), frozenset())
