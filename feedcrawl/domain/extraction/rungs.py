"""The rungs of the ladder: each makes one candidate for the article's body, or none."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl.domain.sanitize import parse_html
from feedcrawl.domain.text import canonical_text

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent


@dataclass(frozen=True, slots=True)
class Candidate:
    """A body that one rung found: its name, its markup, its canonical text."""

    rung: str
    body: HtmlElement
    text: str


def by_readability(page: Page) -> Candidate | None:
    """What readability-lxml takes for the article."""
    from readability import Document
    from readability.readability import Unparseable

    try:
        summary = Document(page.tree, url=page.base).summary(html_partial=True)
    except (Unparseable, ValueError):
        return None
    return candidate("readability", summary)


def by_trafilatura(page: Page) -> Candidate | None:
    """What trafilatura takes for the article."""
    import trafilatura

    html = trafilatura.extract(
        deepcopy(page.tree),
        url=page.url,
        output_format="html",
        include_comments=False,
        include_links=True,
        include_images=True,
        include_formatting=True,
    )
    return candidate("trafilatura", html)


def by_feed(feed: FeedContent | None) -> Candidate | None:
    """What the feed carries of the article."""
    return candidate("feed", feed.content or feed.summary) if feed else None


def candidate(rung: str, html: str | None) -> Candidate | None:
    """The candidate of a rung's markup, if there is any text in it."""
    body = parse_html(f"<body><div>{html}</div>") if html else None
    if body is None:
        return None
    text = canonical_text(body)
    return Candidate(rung, body, text) if text else None
