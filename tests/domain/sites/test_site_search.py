import pytest

from feedcrawl.domain.sites.site_search import SourceSearchedRecord, in_words, is_searched, page_key, sitemap_guesses
from feedcrawl.domain.sites.sources import Source

BASE = "https://www.a.example/news/"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (Source("a", BASE), True),
        (Source("a", BASE, ingestion_mode="both"), True),
        (Source("a", BASE, ingestion_mode="spider"), False),
        (Source("a", BASE, feed_urls=("https://a.example/feed",)), False),
        (Source("a", BASE, sitemap_urls=("https://a.example/s.xml",)), False),
    ],
)
def test_sources_that_name_nothing_are_searched(source: Source, expected: bool) -> None:
    assert is_searched(source) is expected


def test_usual_sitemaps_are_at_the_root_of_the_host() -> None:
    assert sitemap_guesses(BASE)[:2] == ("https://www.a.example/sitemap.xml", "https://www.a.example/news-sitemap.xml")


def test_all_spellings_of_a_page_have_one_key() -> None:
    assert page_key("HTTPS://www.A.example:443/news#top") == page_key(BASE) == "www.a.example/news"


def test_a_result_in_words() -> None:
    found: SourceSearchedRecord = {
        "source": "a",
        "url": BASE,
        "at": "2026-11-28T12:00:00Z",
        "feeds": [],
        "sitemaps": [],
        "tried": [{"url": BASE, "result": "no_feed"}, {"url": "https://www.a.example/feed", "result": "http_404"}],
    }
    assert in_words(found) == (
        "no feed and no sitemap was found; tried: https://www.a.example/news/ (no_feed), "
        "https://www.a.example/feed (http_404)"
    )
    assert in_words({**found, "feeds": ["https://www.a.example/rss"]}) == "found https://www.a.example/rss"
