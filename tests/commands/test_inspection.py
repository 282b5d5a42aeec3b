from __future__ import annotations

import re

import pytest
from documents import page, paragraphs
from scrapy.http import HtmlResponse, Response

from feedcrawl.console.articles.inspection import entries, extract, read
from feedcrawl.domain.errors import NoArticle
from feedcrawl.domain.models import SourceRules
from feedcrawl.domain.sites.sources import read_sources

HTML = page("About it", paragraphs("it", 5), head="<meta name=topic content='Harbours'>")
PAGE = HtmlResponse("http://a.test/x", body=HTML.encode(), encoding="utf-8")


def test_rules_are_tried_as_they_would_stand_in_the_file() -> None:
    rules = {"title": "//meta[@name='topic']", "body": ["#nothing", "article"], "remove": "article p:first-of-type"}
    found = extract(PAGE, rules=rules)
    assert (found.title, found.extractor) == ("Harbours", "rules")
    assert paragraphs("it", 5)[0] not in found.text
    assert paragraphs("it", 5)[1] in found.text
    (source,) = read_sources(f"- {{name: a, base_url: 'http://a.test/', selectors: {rules}}}")
    assert source.selectors == SourceRules(
        title=("//meta[@name='topic']",), body=("#nothing", "article"), remove=("article p:first-of-type",)
    )


def test_a_fetch_without_a_response_is_named() -> None:
    with pytest.raises(ValueError, match="no response: the request failed"):
        extract(None)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"titel": "h1"}, "rules must be a mapping with some of body, title, published, author, remove"),
        ({"title": "h1["}, "rules must be valid CSS or XPath (title: 'h1[' is no CSS"),
        ({"author": ["p", "//p["]}, "(author: '//p[' is no XPath: "),
    ],
)
def test_a_bad_rule_is_refused_by_name(rules: dict[str, str | list[str]], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        extract(PAGE, rules=rules)


def test_a_url_that_is_neither_feed_nor_article_has_both_reasons() -> None:
    (found,) = read(Response("http://a.test/x", body=b"%PDF-1.7"))
    assert (found["type"], found["url"]) == ("failure", "http://a.test/x")
    assert found["not_a_feed"]
    assert found["no_article"].startswith("FAIL_BAD_HTML")


def test_entries_of_a_feed() -> None:
    feed = b"<rss version='2.0'><channel><item><title>One</title></item></channel></rss>"
    assert [entry.title for entry in entries(Response("http://a.test/feed", body=feed))] == ["One"]


def test_a_pdf_is_refused_whatever_its_content_type() -> None:
    body = b"%PDF-1.4\n" + b"% Words that stand in the clear, and many of them.\n" * 50
    with pytest.raises(NoArticle, match="a PDF"):
        extract(HtmlResponse("http://a.test/x", body=body))
