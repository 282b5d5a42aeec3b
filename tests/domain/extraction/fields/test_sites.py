import pytest

from feedcrawl.domain.extraction.fields.sites import host_labels, is_front, is_of_host, site_keys, without_site
from feedcrawl.domain.extraction.page import read_page

SITES = {"thedaily", "daily", "dailyexample"}


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
        ("A story – Daily – The Daily", "A story"),
        ("A story | Daily Mail", "A story | Daily Mail"),
        ("港のはなし\uff1aThe Daily", "港のはなし"),
        ("항구 이야기-정치\u3163Daily", "항구 이야기-정치"),
        ("Well-known - and liked", "Well-known - and liked"),
        ("The Daily", "The Daily"),
        ("", ""),
    ],
)
def test_without_site(text, title):
    assert without_site(text, SITES) == title


@pytest.mark.parametrize(
    ("url", "front"),
    [
        ("/", True),
        ("https://d.example", True),
        ("https://d.example/#top", True),
        (" // d.example/ ", True),
        ("https://d.example/?p=3", False),
        ("/a", False),
        ("#top", False),
        ("", False),
        ("https://[d", False),
    ],
)
def test_is_front(url, front):
    assert is_front(url) is front


@pytest.mark.parametrize(
    ("head", "body", "keys"),
    [
        ("", "", {"dailyexample", "daily"}),
        ("<meta property=og:site_name content='Der Tägliche'>", "", {"dailyexample", "daily", "dertaegliche"}),
        (
            "",
            "<h1><a href=/>Ann writes</a></h1><h1><a href=/a>A story</a></h1>",
            {"dailyexample", "daily", "annwrites"},
        ),
        (
            """<script type="application/ld+json">{"@type": "Article", "publisher": [{"name": "Day & Co"}]}</script>""",
            "",
            {"dailyexample", "daily", "dayco"},
        ),
    ],
)
def test_site_keys(head, body, keys):
    html = f"<html><head>{head}</head><body>{body}<p>{'text ' * 60}</p></body></html>"
    assert site_keys(read_page(html, "https://www.daily.example/a/story")) == keys


@pytest.mark.parametrize(
    ("name", "url", "expected"),
    [
        ("Harbour Internet Marketing", "https://www.harbouragency.example/a", True),
        ("Mine Safety and Health Administration", "https://www.msha.example/a", True),
        ("University of Arts", "https://uoa.example/", True),
        ("World Wide Web", "https://www.daily.example/", False),
        ("Blog", "https://blog.daily.example/", False),
        ("Sport", "https://www.daily.example/", False),
        ("", "https://www.daily.example/", False),
    ],
)
def test_names_of_sites_that_match_the_host(name, url, expected):
    assert is_of_host(name, host_labels(url)) is expected
