"""The work of `scrapy shell` and `scrapy parse`: reads a response as a crawl would, but in this process instead of a
child.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from scrapy import Spider

from feedcrawl.domain import extraction, feeds
from feedcrawl.domain.errors import NoArticle, NotAFeed
from feedcrawl.domain.extraction import explanation
from feedcrawl.domain.extraction.explanation import table
from feedcrawl.domain.extraction.page import decode
from feedcrawl.domain.sites.source_values import selectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy.http import Response

    from feedcrawl.domain.models import Extraction, ParsedEntry, SourceRules


def entries(response: Response) -> tuple[ParsedEntry, ...]:
    """The entries of a feed, as published; NotAFeed names the type of any other document."""
    return feeds.parse(response.body, url=response.url, content_type=_content_type(response)).entries


def extract(response: Response | None, rules: Mapping[str, object] | None = None) -> Extraction:
    """The article of a page; NoArticle has the reason if there is none.

    `rules` have the form of a source's `selectors`: `{"body": "div.story", "title": ["h1", "//h2"]}`. ValueError names
    unusable rules.
    """
    page = _received(response)
    html = decode(page.body, _content_type(page))
    return extraction.extract(html, url=page.url, rules=_rules(rules))


def explain(response: Response | None, rules: Mapping[str, object] | None = None) -> None:
    """Print what each rung and each source of a field found on a page, and which was chosen; `rules` as above."""
    page = _received(response)
    html = decode(page.body, _content_type(page))
    print(table(explanation.explain(html, url=page.url, rules=_rules(rules))))  # noqa: T201 - the shell's answer


def read(response: Response) -> Iterator[dict[str, object]]:
    """The entries of a feed, or an article, or the reasons why a document has neither."""
    try:
        found = entries(response)
    except NotAFeed as refused:
        yield _page(response, str(refused))
    else:
        for entry in found:
            yield {"type": "entry", **asdict(entry)}


class Reader(Spider):
    """Reads one document."""

    name = "reader"

    def parse(self, response: Response, **kwargs: object) -> Iterator[dict[str, object]]:  # noqa: ARG002 - Scrapy's signature
        """The entries of a feed, otherwise the article of a page; a document that is neither is reported with the
        reason.
        """
        yield from read(response)


def _rules(rules: Mapping[str, object] | None) -> SourceRules | None:
    try:
        return selectors(rules) if rules else None
    except ValueError as error:
        raise ValueError(f"rules must be {error}") from None


def _page(response: Response, no_feed: str) -> dict[str, object]:
    try:
        return {"type": "article", **asdict(extract(response))}
    except NoArticle as refused:
        return {"type": "failure", "url": response.url, "not_a_feed": no_feed, "no_article": str(refused)}


def _received(response: Response | None) -> Response:
    """The response; ValueError where the shell's last `fetch` got none."""
    if response is None:
        raise ValueError(
            "no response: the request failed, robots.txt forbids the URL, or its address is not public"
            " (FEEDCRAWL_ALLOW_NETWORKS permits other networks)"
        )
    return response


def _content_type(response: Response) -> str | None:
    declared = response.headers.get("Content-Type")
    return declared.decode("latin-1") if declared else None
