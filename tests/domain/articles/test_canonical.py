import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.articles.canonical import canonical_url, is_front_page, leads_home

REQUESTED = "https://news.example.org/a/story?utm_source=rss"
FINAL = "https://www.example.org/a/story"


@pytest.mark.parametrize(
    ("requested", "final", "named", "canonical"),
    [
        (REQUESTED, REQUESTED, None, "https://news.example.org/a/story"),
        (REQUESTED, FINAL, None, FINAL),
        (REQUESTED, "", None, "https://news.example.org/a/story"),
        # What the page names, of its own registered domain.
        (REQUESTED, FINAL, "https://example.org/story-1/", "https://example.org/story-1"),
        (REQUESTED, FINAL, "/story-1", "https://www.example.org/story-1"),
        (REQUESTED, FINAL, "HTTPS://Example.org:443/story-1#top", "https://example.org/story-1"),
        (REQUESTED, FINAL, "//amp.example.org/story-1", "https://amp.example.org/story-1"),
        # What it may not speak for, or what names nothing.
        (REQUESTED, FINAL, "https://example.com/story-1", FINAL),
        (REQUESTED, FINAL, "https://example.org.evil.test/story", FINAL),
        (REQUESTED, FINAL, "https://example.org/", FINAL),
        (REQUESTED, FINAL, "/", FINAL),
        (REQUESTED, FINAL, "javascript:alert(1)", FINAL),
        (REQUESTED, FINAL, "http://[", FINAL),
        (REQUESTED, FINAL, "", FINAL),
        # A front page may name itself.
        ("https://example.org/", "https://example.org/", "https://www.example.org/", "https://www.example.org/"),
        # Two tenants of a public suffix are two sites.
        ("https://a.github.io/x", "https://a.github.io/x", "https://b.github.io/x", "https://a.github.io/x"),
    ],
)
def test_the_canonical_url_of_a_page(requested: str, final: str, named: str | None, canonical: str) -> None:
    assert canonical_url(requested, final, named) == canonical


def test_a_trailing_slash_is_kept_where_the_source_keeps_slashes() -> None:
    assert canonical_url("http://a.test/x/", "http://a.test/x/", None, keep_trailing_slash=True) == "http://a.test/x/"


@given(named=st.text(max_size=40))
def test_a_canonical_url_stays_on_the_site_of_the_page(named: str) -> None:
    assert ".".join(canonical_url(FINAL, FINAL, named).split("/")[2].split(".")[-2:]) == "example.org"


@pytest.mark.parametrize(
    ("url", "is_front"),
    [
        ("https://a.test/", True),
        ("https://a.test", True),
        ("https://a.test/x", False),
        ("https://a.test/?id=1", False),
    ],
)
def test_front_pages(url: str, is_front: bool) -> None:
    assert is_front_page(url) is is_front


STORY = "https://example.org/2026/story"


@pytest.mark.parametrize(
    ("chain", "final", "expected"),
    [
        ([STORY], "https://example.org/", True),
        ([STORY], "https://www.example.org/", True),
        ([STORY], "https://m.example.org", True),
        ([STORY], "https://example.org/?utm_source=rss", True),
        ([STORY], "https://example.org/en/", True),
        ([STORY], "https://example.org/pt_BR", True),
        ([STORY], "https://example.org/index.html", True),
        ([STORY], "https://example.org/de/home", True),
        (["https://blog.example.org/story"], "https://www.example.org/", True),
        (["https://example.org/?p=123"], "https://example.org/", True),
        (["https://example.org/index.php?id=7"], "https://example.org/", True),
        (["https://short.test/x", STORY], "https://example.org/", True),
        ([STORY, "https://example.org/removed"], "https://example.org/", True),
        # Not at a front page.
        ([STORY], STORY, False),
        ([STORY], "https://example.org/news/", False),
        ([STORY], "https://example.org/?p=123", False),
        ([STORY], "https://example.org/?story=harbour", False),
        ([STORY], "https://example.org/enough", False),
        ([STORY], "https://example.org/homecoming", False),
        # A front page was linked.
        (["https://example.org/"], "https://example.org/", False),
        (["http://example.org"], "https://www.example.org/", False),
        (["https://example.org/"], "https://example.org/en/", False),
        (["https://example.org/en/"], "https://example.org/", False),
        (["https://example.org/index.html"], "https://example.org/", False),
        (["https://example.org/?lang=en"], "https://example.org/", False),
        (["https://example.org/", "https://example.org/cookies?set=1"], "https://example.org/", False),
        (["https://short.test/x"], "https://example.org/", False),
        (
            ["https://short.test/x", "https://example.org/", "https://example.org/consent"],
            "https://example.org/",
            False,
        ),
        # A page that has got a host of its own.
        (["https://example.org/fair"], "https://fair.example.org/", False),
        (["https://example.org/fair"], "https://example.com/", False),
        (["https://notexample.org/fair"], "https://example.org/", False),
    ],
)
def test_links_of_removed_articles_end_at_the_front_page(chain: list[str], final: str, expected: bool) -> None:
    assert leads_home(chain, final) is expected
