"""Explains an extraction: the findings of each rung and of each source of a field, as a table for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from feedcrawl.domain.errors import NoArticle
from feedcrawl.domain.extraction.bodies import rungs
from feedcrawl.domain.extraction.bodies.choice import choose
from feedcrawl.domain.extraction.endings import drop_endings
from feedcrawl.domain.extraction.fields.authors import author_sources, decide_authors, judged
from feedcrawl.domain.extraction.fields.moments import find_published, published_candidates
from feedcrawl.domain.extraction.fields.sites import site_keys
from feedcrawl.domain.extraction.fields.titles import decide_title, statements
from feedcrawl.domain.extraction.kinds import page_kind
from feedcrawl.domain.extraction.ladder import refuse_choice
from feedcrawl.domain.extraction.page import read_page
from feedcrawl.domain.extraction.threads.posts import find_posts
from feedcrawl.domain.models import SourceRules
from feedcrawl.domain.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from feedcrawl.domain.extraction.bodies.choice import Choice
    from feedcrawl.domain.extraction.bodies.furniture import Dropped
    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent

MAX_VALUE = 70
MAX_PARTS = 30
_NO_RULES = SourceRules()


class Row(NamedTuple):
    """One line of an explanation: the field, the source, its weight, and its value."""

    field: str
    source: str
    weight: str
    value: str


def explain(
    html: bytes | str, *, url: str, rules: SourceRules | None = None, feed: FeedContent | None = None
) -> tuple[Row, ...]:
    """The findings on a page, as rows: each candidate for body, title, day and authors with the choice and its reason,
    the furniture that was removed with its rule (the longest parts first), and the number of a thread's posts.

    All rungs run, also those that the choice did not need. Raises NoArticle with FAIL_BAD_HTML or FAIL_PARSE if the
    document is no page; a page without an article is explained.
    """
    page = read_page(html, url)
    choice = choose(page, rules or _NO_RULES, feed)
    return (
        Row("page", "kind", "", (choice and choice.kind) or page_kind(page)),
        *_bodies(page, rules or _NO_RULES, feed, choice),
        *_furniture(page, choice),
        *_titles(page, feed),
        *_days(page, feed),
        *_authors(page, feed),
        *_posts(page),
    )


def table(rows: tuple[Row, ...]) -> str:
    """The rows as aligned columns."""
    shown = [Row("field", "source", "weight", "value"), *rows]
    widths = [max(len(row[column]) for row in shown) for column in range(3)]
    return "\n".join(
        "  ".join((*(cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True)), row.value)).rstrip()
        for row in shown
    )


def _bodies(page: Page, rules: SourceRules, feed: FeedContent | None, choice: Choice | None) -> Iterator[Row]:
    own = rungs.by_rules(page, rules), rungs.by_prose(page), rungs.by_readability(page), rungs.by_structured_data(page)
    for candidate in (
        *own,
        rungs.by_trafilatura(page),
        rungs.by_area(page),
        rungs.by_embedded(page),
        rungs.by_feed(feed),
    ):
        if candidate:
            weight = f"{len(candidate.text)} characters, {candidate.density:.0%} links"
            yield Row("body", candidate.rung, weight, _cut(candidate.text))
    yield Row("body", "chosen", "", f"{choice.winner.rung}: {choice.reason}" if choice else "none: no rung found any")
    try:
        refuse_choice(page, choice)
    except NoArticle as refused:
        yield Row("body", "refused", "", _cut(str(refused)))


def _furniture(page: Page, choice: Choice | None) -> Iterator[Row]:
    dropped: Dropped = []
    rungs.by_prose(page, dropped)
    if choice:
        drop_endings(choice.winner.body, lists=not choice.winner.is_area, dropped=dropped)
    for rule, text in sorted(dict.fromkeys(dropped), key=lambda part: -len(part[1]))[:MAX_PARTS]:
        yield Row("furniture", rule, f"{len(text)} characters", _cut(text))


def _titles(page: Page, feed: FeedContent | None) -> Iterator[Row]:
    sources = ("structured data", "OpenGraph", "feed", "heading", "card", "title element or editors")
    for source, statement in zip(sources, statements(page, feed, site_keys(page)), strict=True):
        if statement.text:
            yield Row("title", source, f"{statement.weight:g}", _cut(statement.text))
    title = decide_title(page, feed)
    yield Row("title", "chosen", f"{title.weight:g}" if title.text else "", title.text or "none")


def _days(page: Page, feed: FeedContent | None) -> Iterator[Row]:
    for place, (source, moment) in enumerate(published_candidates(page, feed), 1):
        yield Row("published", source, f"place {place}", moment.isoformat())
    published = find_published(page, feed)
    yield Row("published", "chosen", "", published.isoformat() if published else "none")


def _authors(page: Page, feed: FeedContent | None) -> Iterator[Row]:
    for place, (source, names) in enumerate(author_sources(page, feed), 1):
        names_with_reasons = [f"{name} ({why})" if why else name for name, why in judged(source, names, page)]
        if names_with_reasons:
            yield Row("authors", source, f"place {place}", _cut("; ".join(names_with_reasons)))
    source, chosen = decide_authors(page, feed)
    yield Row("authors", "chosen", source if chosen else "", "; ".join(chosen) or "none")


def _posts(page: Page) -> Iterator[Row]:
    posts = find_posts(page)
    if posts:
        named = sum(post.author is not None for post in posts)
        dated = sum(post.published is not None for post in posts)
        yield Row("posts", "thread", str(len(posts)), f"{named} with an author, {dated} with a day")


def _cut(text: str) -> str:
    line = fold(text)
    return line if len(line) <= MAX_VALUE else f"{line[:MAX_VALUE]}…"
