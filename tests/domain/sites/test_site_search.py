import pytest

from feedcrawl.domain.sites.site_search import (
    BOTH,
    SourceSearchedRecord,
    in_words,
    is_empty,
    is_sought,
    joined,
    lacking,
    page_key,
    sitemap_guesses,
)
from feedcrawl.domain.sites.sources import Source

BASE = "https://www.a.example/news/"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (Source("a", BASE), ("feed", "sitemap")),
        (Source("a", BASE, ingestion_mode="both"), ("feed", "sitemap")),
        (Source("a", BASE, ingestion_mode="spider"), ()),
        (Source("a", BASE, feed_urls=("https://a.example/feed",)), ("sitemap",)),
        (Source("a", BASE, sitemap_urls=("https://a.example/s.xml",)), ("feed",)),
        (Source("a", BASE, feed_urls=("https://a.example/feed",), sitemap_urls=()), ()),
        (Source("a", BASE, feed_urls=()), ("sitemap",)),
    ],
)
def test_a_site_is_searched_for_the_kinds_that_its_source_does_not_name(
    source: Source, expected: tuple[str, ...]
) -> None:
    assert lacking(source) == expected


FOUND: SourceSearchedRecord = {
    "source": "a",
    "url": BASE,
    "at": "2026-11-28T12:00:00Z",
    "sought": ["feed", "sitemap"],
    "feeds": [],
    "sitemaps": [],
    "tried": [{"url": BASE, "result": "no_feed"}, {"url": "https://www.a.example/feed", "result": "http_404"}],
}


def test_a_source_is_empty_until_something_is_named_or_found() -> None:
    bare, named = Source("a", BASE), Source("a", BASE, feed_urls=("https://a.example/feed",))
    assert (is_empty(bare, None), is_empty(bare, FOUND), is_empty(named, FOUND)) == (True, True, False)
    assert not is_empty(bare, {**FOUND, "sitemaps": ["https://www.a.example/s.xml"]})


def test_a_search_for_a_kind_keeps_the_results_of_the_other_kind() -> None:
    feed, sitemap = ["https://www.a.example/feed"], ["https://www.a.example/s.xml"]
    sitemaps: SourceSearchedRecord = {**FOUND, "sought": ["sitemap"], "sitemaps": sitemap}
    feeds: SourceSearchedRecord = {**FOUND, "sought": ["feed"], "feeds": feed, "tried": []}
    assert (is_sought("feed", sitemaps), is_sought("feed", feeds), is_sought("feed", None)) == (False, True, False)
    merged = joined(feeds, sitemaps)
    assert (merged["sought"], merged["feeds"], merged["sitemaps"]) == (["feed", "sitemap"], feed, sitemap)
    assert merged["tried"] == FOUND["tried"]
    assert joined(FOUND, merged) == {**FOUND, "tried": FOUND["tried"]}
    assert joined(feeds, None) == feeds


def test_results_of_earlier_versions_are_of_searches_for_both() -> None:
    old = {name: value for name, value in FOUND.items() if name != "sought"}
    assert all(is_sought(each, old) for each in BOTH)  # type: ignore[arg-type]


def test_usual_sitemaps_are_at_the_root_of_the_host() -> None:
    assert sitemap_guesses(BASE)[:2] == ("https://www.a.example/sitemap.xml", "https://www.a.example/news-sitemap.xml")


def test_all_spellings_of_a_page_share_a_key() -> None:
    assert page_key("HTTPS://www.A.example:443/news#top") == page_key(BASE) == "www.a.example/news"


def test_a_result_in_words() -> None:
    assert in_words(FOUND) == (
        "no feed and no sitemap was found; tried: https://www.a.example/news/ (no_feed), "
        "https://www.a.example/feed (http_404)"
    )
    assert in_words({**FOUND, "sought": ["sitemap"]}).startswith("no sitemap was found; tried: ")
    assert in_words({**FOUND, "feeds": ["https://www.a.example/rss"]}) == "found https://www.a.example/rss"
