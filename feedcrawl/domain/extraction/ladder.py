"""The article on a page: a ladder of extractors, and a scorer that chooses among their candidates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lxml import etree

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.errors import NoArticle
from feedcrawl.domain.extraction.bodies.choice import Choice, choose
from feedcrawl.domain.extraction.candidates import read_again
from feedcrawl.domain.extraction.endings import drop_endings
from feedcrawl.domain.extraction.fields.authors import find_authors
from feedcrawl.domain.extraction.fields.disagreements import disagreements
from feedcrawl.domain.extraction.fields.metadata import (
    find_canonical,
    find_image,
    find_language,
    find_site_name,
    find_tags,
)
from feedcrawl.domain.extraction.fields.moments import find_modified, find_published
from feedcrawl.domain.extraction.fields.persons import split_names
from feedcrawl.domain.extraction.fields.titles import find_title
from feedcrawl.domain.extraction.kinds import page_kind
from feedcrawl.domain.extraction.page import Page, read_page
from feedcrawl.domain.extraction.recipes import complete_recipe, stated_recipe
from feedcrawl.domain.extraction.rules import select_text
from feedcrawl.domain.extraction.threads.posts import find_posts
from feedcrawl.domain.extraction.threads.text import clear_thread
from feedcrawl.domain.extraction.walls.recognition import is_paid, refuse_headline, refuse_title, refuse_walls
from feedcrawl.domain.models import Extraction, SourceRules
from feedcrawl.domain.sanitize import clean_tree

if TYPE_CHECKING:
    from datetime import datetime

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.candidates import Candidate
    from feedcrawl.domain.models import FeedContent, Post

MIN_ABSTRACT_LENGTH = 40
_NO_RULES = SourceRules()


def extract(
    html: bytes | str,
    *,
    url: str,
    rules: SourceRules | None = None,
    feed: FeedContent | None = None,
    image_proxy: str | None = None,
) -> Extraction:
    """The article of a page fetched from `url`.

    `rules`: the selectors of the page's source; `feed`: the feed's data on the article; `image_proxy`: the prefix of
    the addresses of images in `html`. Raises NoArticle with FAIL_BAD_HTML (too short, or no HTML), FAIL_PARSE (cannot
    be parsed) or FAIL_EMPTY (no article: a wall, a challenge, a soft 404, an index, no text); its detail begins with
    the kind of page.
    """
    rules = rules or _NO_RULES
    page = read_page(html, url)
    choice = choose(page, rules, feed)
    if choice is None:
        refuse_choice(page, None)
        raise NoArticle("FAIL_EMPTY", "no_text: no extractor found any")
    if choice.winner.rung not in {"rules", "feed"}:
        refuse_choice(page, choice)
    return _ruled(_extraction(page, choice, feed, image_proxy), page, rules)


def refuse_choice(page: Page, choice: Choice | None) -> None:
    """Raise NoArticle for a wall: by its title and structure, and by the text of the article, or for the main area of a
    page by its headline.
    """
    refuse_title(page)
    judged = (choice.witness or choice.winner) if choice else None
    if judged is None:
        refuse_walls(page, "")
    elif judged.is_area:
        refuse_headline(page, judged.text, judged.density)
    else:
        refuse_walls(page, judged.text, judged.density)


def _extraction(page: Page, choice: Choice, feed: FeedContent | None, image_proxy: str | None) -> Extraction:
    winner, posts = choice.winner, find_posts(page)
    if winner.rung not in {"rules", "feed"} and _completed(winner, page, posts):
        winner = read_again(winner)
    image = find_image(page, winner.body, feed)
    title = find_title(page, feed)
    authors, published = _signature(page, feed, posts)
    paid = ("paid",) if is_paid(page) else ()
    return Extraction(
        title=title,
        text=winner.text,
        html=_sanitized(winner.body, page.base, image_proxy),
        abstract=_abstract(winner.text),
        image=image,
        authors=authors,
        published=published,
        modified=find_modified(page, feed),
        language=find_language(page, feed),
        site_name=find_site_name(page),
        canonical_url=find_canonical(page),
        extractor=winner.rung,
        page_kind=choice.kind or page_kind(page),
        raw_len=page.raw_len,
        text_len=len(winner.text),
        tags=find_tags(page, feed),
        notes=(f"{winner.rung}: {choice.reason}", *paid, *disagreements(page, feed, title, published)),
        posts=posts,
    )


def _signature(
    page: Page, feed: FeedContent | None, posts: tuple[Post, ...]
) -> tuple[tuple[str, ...], datetime | None]:
    """The authors and the publication: of a thread those of its first post, unless the feed states them."""
    authors, published = find_authors(page, feed), find_published(page, feed)
    first = posts[0] if posts else None
    if first and first.author and not (feed and feed.authors):
        authors = (first.author,)
    if first and first.published and not (feed and feed.published):
        is_same_day = published is not None and published.date() == first.published.date()
        published = published if is_same_day else first.published
    return authors, published


def _completed(winner: Candidate, page: Page, posts: tuple[Post, ...]) -> bool:
    """Clear the body of a thread; drop what stands behind the text of another page, and complete a recipe. True if the
    body was changed.
    """
    if posts:
        clear_thread(winner.body, posts)
        return True
    # Lists of articles are what the main area of a listing or a service consists of.
    is_cut = drop_endings(winner.body, lists=not winner.is_area)
    recipe = stated_recipe(page)
    return (recipe is not None and complete_recipe(winner.body, recipe)) or is_cut


def _sanitized(body: HtmlElement, base_url: str, image_proxy: str | None) -> str:
    """The body as safe HTML; NoArticle (`sanitize_failed`) if it cannot be made safe: it is then not stored at all."""
    try:
        return clean_tree(body, base_url=base_url, image_proxy=image_proxy)
    except (ValueError, RecursionError, AssertionError, etree.LxmlError) as error:
        raise NoArticle("sanitize_failed", f"{type(error).__name__}: {error!s:.200}") from error


def _ruled(extraction: Extraction, page: Page, rules: SourceRules) -> Extraction:
    """The extraction with the fields that the source's rules find."""
    titles = select_text(page.tree, rules.title)
    moments = [moment for text in select_text(page.tree, rules.published) if (moment := parse_date(text))]
    authors = tuple(name for text in select_text(page.tree, rules.author) for name in split_names(text))
    return replace(
        extraction,
        title=titles[0] if titles else extraction.title,
        published=moments[0] if moments else extraction.published,
        authors=authors or extraction.authors,
    )


def _abstract(text: str) -> str | None:
    """The first paragraph of more than 40 characters."""
    return next((line for line in text.splitlines() if len(line) > MIN_ABSTRACT_LENGTH), None)
