import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.discovery.choice import Candidate, choose, guesses, is_comments, places, read_candidate
from feedcrawl.domain.errors import NotAFeed
from feedcrawl.domain.models import FeedLink

PAGE = "https://a.test/"
MAIN = Candidate("https://a.test/rss", "A site", 3, ("1", "2", "3"))
SHORT = Candidate("https://a.test/atom", "A site", 2, ("1", "2"))
OTHER = Candidate("https://a.test/sport", "Sport", 2, ("2", "4"))
COMMENTS = Candidate("https://a.test/comments/feed/", "A site", 2, ("8", "9"))
EMPTY = Candidate("https://a.test/empty", None, 0)


@pytest.mark.parametrize(
    ("found", "left"),
    [
        ([], []),
        ([MAIN], [MAIN]),
        ([MAIN, SHORT], [MAIN]),
        ([SHORT, MAIN, COMMENTS], [SHORT]),
        ([COMMENTS, MAIN, OTHER, MAIN], [MAIN, OTHER]),
        ([COMMENTS], [COMMENTS]),
        ([EMPTY, MAIN], [EMPTY, MAIN]),
    ],
)
def test_feeds_that_are_left_to_choose_from(found: list[Candidate], left: list[Candidate]) -> None:
    assert list(choose(found)) == left


@pytest.mark.parametrize(
    ("url", "title", "expected"),
    [
        ("https://a.test/comments/feed", None, True),
        ("https://a.test/blog/comments.xml", None, True),
        ("https://a.test/?feed=comments-rss2", None, True),
        ("https://a.test/feed", "Comments on: A story", True),
        ("https://a.test/feed", "Kommentare zu A", True),
        ("https://a.test/feed", "Un site » Commentaires", True),
        ("https://a.test/commentary/feed", "Commentary and opinion", False),
        ("https://a.test/feed", None, False),
    ],
)
def test_feeds_of_comments(url: str, title: str | None, *, expected: bool) -> None:
    assert is_comments(url, title) is expected


def test_places_are_those_of_the_page_comments_last() -> None:
    named = [FeedLink("https://a.test/c", None, "Comments"), FeedLink(PAGE)]
    links = [*named, FeedLink("https://a.test/1"), FeedLink("https://a.test/2")]
    assert places([*links, *links], PAGE) == ("https://a.test/1", "https://a.test/2", "https://a.test/c")
    assert len(places((FeedLink(f"https://a.test/{number}") for number in range(99)), PAGE)) == 20


def test_guesses_are_made_under_the_page_and_under_its_site() -> None:
    paths = ("/feed", "/rss", "/atom.xml", "/feed.xml", "/rss.xml")
    assert guesses(PAGE)[:5] == tuple(f"https://a.test{path}" for path in paths)
    found = guesses("https://a.test/blog/?page=2")
    assert found[0] == "https://a.test/blog/feed"
    assert "https://a.test/feed" in found
    assert len(found) == 13
    assert "https://a.test/feed" not in guesses("https://a.test/feed")


def test_a_feed_is_read_for_its_title_and_its_first_entries() -> None:
    body = (
        b"<rss version='2.0'><channel><title>A</title><item><link>/1?utm_source=x</link></item>"
        b"<item><guid isPermaLink='false'>id</guid><title>t</title></item>"
        b"<item><title>only</title></item></channel></rss>"
    )
    expected = Candidate("https://a.test/rss", "A", 3, ("https://a.test/1", "id", "only"))
    assert read_candidate(body, url="https://a.test/rss", content_type=None) == expected
    with pytest.raises(NotAFeed):
        read_candidate(b"<html>", url=PAGE, content_type="text/html")


candidates = st.builds(
    Candidate,
    st.sampled_from(["https://a.test/1", "https://a.test/2", "https://a.test/comments/"]),
    st.none() | st.sampled_from(["A", "Comments"]),
    st.integers(0, 3),
    st.lists(st.sampled_from("abc"), max_size=3).map(tuple),
)


@given(st.lists(candidates, max_size=5))
def test_something_is_left_of_something(found: list[Candidate]) -> None:
    left = choose(found)
    assert bool(left) is bool(found)
    assert set(left) <= set(found)
    assert choose(left) == left
