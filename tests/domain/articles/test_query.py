import pytest

from feedcrawl.domain.articles.query import FIELDS, OUTLINE, TEXTS, Wanted

ARTICLE = {"feed_id": "f1", "canonical_url": "https://News.test:8080/a", "language": "en-GB"}


@pytest.mark.parametrize(
    ("wanted", "matches"),
    [
        (Wanted(), True),
        (Wanted(since=9e9, category="other"), True),  # the indexes' own
        (Wanted(feed_id="f1"), True),
        (Wanted(feed_id="f2"), False),
        (Wanted(host="news.test"), True),
        (Wanted(host="NEWS.test"), True),
        (Wanted(host="test"), False),
        (Wanted(host="news.test:8080"), False),
        (Wanted(language="en"), True),
        (Wanted(language="EN-gb"), True),
        (Wanted(language="e"), False),
        (Wanted(language="en-GB-oed"), False),
        (Wanted(language="de"), False),
        (Wanted(feed_id="f1", host="news.test", language="en"), True),
        (Wanted(feed_id="f1", host="news.test", language="de"), False),
    ],
)
def test_all_conditions_must_hold(wanted: Wanted, matches: bool) -> None:
    assert wanted.matches(ARTICLE) is matches


@pytest.mark.parametrize("article", [{}, {"feed_id": "", "canonical_url": "", "language": ""}])
@pytest.mark.parametrize("wanted", [Wanted(feed_id="f1"), Wanted(host="news.test"), Wanted(language="en")])
def test_what_an_article_does_not_say_is_not_meant(article: dict[str, str], wanted: Wanted) -> None:
    assert not wanted.matches(article)


@pytest.mark.parametrize(
    ("wanted", "looked_at"),
    [(Wanted(), False), (Wanted(since=1, category="a"), False), (Wanted(feed_id="f"), True), (Wanted(host="h"), True)],
)
def test_whether_the_record_must_be_read(wanted: Wanted, looked_at: bool) -> None:
    assert wanted.is_of_record is looked_at


def test_a_list_shows_no_text() -> None:
    assert set(FIELDS) <= set(OUTLINE)
    assert not TEXTS & set(OUTLINE)
