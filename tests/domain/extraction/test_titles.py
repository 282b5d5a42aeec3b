import pytest

from feedcrawl.domain.extraction.page import read_page
from feedcrawl.domain.extraction.titles import find_title, without_site
from feedcrawl.domain.models import FeedContent

URL = "https://www.daily.example/a/story"
SITES = ["thedaily", "daily", "dailyexample"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("A story | The Daily", "A story"),
        ("A story - Daily", "A story"),
        ("A story – daily.example", "A story"),
        ("The Daily: A story", "The Daily: A story"),
        ("Daily » A story", "A story"),
        ("A story | Sport | The Daily", "A story | Sport"),
        ("A story | The Daily | 28.04.2023", "A story"),
        ("Well-known - and liked", "Well-known - and liked"),
        ("The Daily", "The Daily"),
        ("", ""),
    ],
)
def test_without_site(text, title):
    assert without_site(text, SITES) == title


def page(head, body=""):
    return read_page(f"<html><head>{head}</head><body>{body}<p>{'text ' * 60}</p></body></html>", URL)


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>A story | The Daily</title><meta property=og:site_name content='The Daily'>", "", "A story"),
        ("<title>A story</title>", "<h1>Daily</h1><h1>A story</h1>", "A story"),
        ("<title>A story about ports</title>", "<h1>Subscribe</h1>", "A story about ports"),
        ("<title>SEO words</title><meta property=og:title content='A story'>", "<h1>A story</h1>", "A story"),
        (
            "<meta property=og:title content='A&#8239;story of &quot;x&quot;'>",
            "<h1>A story of “x”</h1>",
            'A story of "x"',
        ),
        ("", "<h1>Only\n <b>this</b></h1>", "Only this"),
        ("<title>A</title>", "<svg><title>icon</title></svg>", "A"),
        ("", "", None),
    ],
)
def test_find_title(head, body, title):
    assert find_title(page(head, body), None) == title


def test_the_feed_has_a_say():
    assert find_title(page(""), FeedContent(title="From the feed")) == "From the feed"
    head = "<title>SEO words</title><meta property=og:title content='SEO words of another kind'>"
    assert (
        find_title(page(head, "<h1>A story of words</h1>"), FeedContent(title="A story of words")) == "A story of words"
    )
