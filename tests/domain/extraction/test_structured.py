import pytest

from feedcrawl.domain.extraction.structured import article_of, body_of, read_things, text_at
from feedcrawl.domain.markup import parse_html

URL = "https://news.example/a/story"


def article(*scripts):
    tree = parse_html("<html><head>" + "".join(f'<script type="application/ld+json">{s}</script>' for s in scripts))
    assert tree is not None
    return article_of(read_things(tree.iter("script")), URL)


@pytest.mark.parametrize(
    ("script", "headline"),
    [
        ('{"@type":"NewsArticle","headline":"x"}', "x"),
        ('[{"@type":"WebSite"},{"@type":["Article","Thing"],"headline":"x"}]', "x"),
        ('{"@graph":[{"@type":"BlogPosting","headline":"x"}]}', "x"),
        ('{"@type":"WebPage","mainEntity":{"@type":"Article","headline":"x"}}', "x"),
        ('<!-- {"@type":"Article","headline":"x"} -->', "x"),
        ('//<![CDATA[\n{"@type":"Article","headline":"x"}\n//]]>', "x"),
        ('{"@type":"Article","headline":"a\nb",}', "a b"),
        ('{"@type":"Article","headline":"a &amp; b"};', "a & b"),
        ('{"@type":"Article","headline":"a&amp;#8230; b"}', "a\u2026 b"),
        ('{"@type":"Article","headline":"a &amp;lt; b"}', "a &lt; b"),
        ('{"@type":"Article","headline":["x","y"]}', "x"),
        ('{"@type":"Article","headline":{}}', None),
        ('{"@type":7,"headline":"x"}', None),
        ('{"@type":"Product","headline":"x"}', None),
        ("[" * 50_000, None),
        ("nonsense", None),
        ('"text"', None),
        ("", None),
    ],
)
def test_headline_of_the_article(script, headline):
    assert text_at(article(script), "headline") == headline


def test_the_article_about_this_page_is_preferred():
    other = '{"@type":"Article","headline":"other","datePublished":"2026-01-01","author":"x","url":"/b"}'
    own = '{"@type":"Article","headline":"own","mainEntityOfPage":{"@id":"https://www.news.example/a/story#main"}}'
    assert text_at(article(other, own), "headline") == "own"
    assert text_at(article(other), "headline") == "other"


REMARK = '{"@type":"Review","author":"Bo","datePublished":"2026-01-01"}'


@pytest.mark.parametrize(
    ("script", "author"),
    [
        ('{"@type":"Recipe","name":"x","author":"Ann"}', "Ann"),
        (f'{{"@type":"Recipe","name":"x","author":"Ann","review":[{REMARK}]}}', "Ann"),
        (f'{{"@type":"Recipe","name":"x","review":{REMARK}}}', None),
        (f'{{"@type":"Article","headline":"x","review":{REMARK}}}', None),
        (f'{{"@type":"Product","name":"x","review":{REMARK}}}', "Bo"),  # the review is the article
        ('{"@type":"UserReview","author":"Bo"}', None),
        (REMARK, "Bo"),
        (
            '[{"@type":"Article","headline":"x","datePublished":"x","author":"Ann"},{"@type":"Recipe","author":"Cy"}]',
            "Ann",
        ),
    ],
)
def test_what_readers_wrote_is_no_article(script, author):
    assert text_at(article(script), "author") == author


@pytest.mark.parametrize(
    ("node", "text"),
    [
        ({"articleBody": "one\n\ntwo"}, "one\ntwo"),
        ({"articleBody": "&lt;p&gt;one&lt;/p&gt;&lt;p&gt;two&lt;/p&gt;"}, "one\ntwo"),
        ({"articleBody": 7}, ""),
        ({}, ""),
    ],
)
def test_body_of(node, text):
    assert body_of(node) == text
