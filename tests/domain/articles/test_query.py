import pytest

from feedcrawl.domain.articles.query import FIELDS, OUTLINE, TEXTS, ArticleFilter

ARTICLE = {"feed_id": "f1", "canonical_url": "https://News.test:8080/a", "language": "en-GB"}


@pytest.mark.parametrize(
    ("conditions", "matches"),
    [
        (ArticleFilter(), True),
        (ArticleFilter(since=9e9, category="other"), True),  # the indexes' own
        (ArticleFilter(feed_id="f1"), True),
        (ArticleFilter(feed_id="f2"), False),
        (ArticleFilter(host="news.test"), True),
        (ArticleFilter(host="NEWS.test"), True),
        (ArticleFilter(host="test"), False),
        (ArticleFilter(host="news.test:8080"), False),
        (ArticleFilter(language="en"), True),
        (ArticleFilter(language="EN-gb"), True),
        (ArticleFilter(language="e"), False),
        (ArticleFilter(language="en-GB-oed"), False),
        (ArticleFilter(language="de"), False),
        (ArticleFilter(feed_id="f1", host="news.test", language="en"), True),
        (ArticleFilter(feed_id="f1", host="news.test", language="de"), False),
    ],
)
def test_all_conditions_must_hold(conditions: ArticleFilter, matches: bool) -> None:
    assert conditions.matches(ARTICLE) is matches


@pytest.mark.parametrize("article", [{}, {"feed_id": "", "canonical_url": "", "language": ""}])
@pytest.mark.parametrize(
    "conditions", [ArticleFilter(feed_id="f1"), ArticleFilter(host="news.test"), ArticleFilter(language="en")]
)
def test_an_article_without_a_field_matches_no_condition_on_the_field(
    article: dict[str, str], conditions: ArticleFilter
) -> None:
    assert not conditions.matches(article)


@pytest.mark.parametrize(
    ("conditions", "looked_at"),
    [
        (ArticleFilter(), False),
        (ArticleFilter(since=1, category="a"), False),
        (ArticleFilter(feed_id="f"), True),
        (ArticleFilter(host="h"), True),
    ],
)
def test_whether_the_record_must_be_read(conditions: ArticleFilter, looked_at: bool) -> None:
    assert conditions.is_of_record is looked_at


def test_a_list_shows_no_text() -> None:
    assert set(FIELDS) <= set(OUTLINE)
    assert not TEXTS & set(OUTLINE)
