"""Stored articles: the newest that match the filters, a page at a time, and each by its uid."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from feedcrawl.api import schemas
from feedcrawl.api.access import needs, needs_unless_open
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.limits.places import HEAVY
from feedcrawl.api.outfeeds import Form, outfeed
from feedcrawl.api.paging import Cursor, Limit, Moment, place_of, shown
from feedcrawl.api.problems import answers
from feedcrawl.domain.articles.outfeeds import ATOM_TYPE, JSON_TYPE
from feedcrawl.domain.articles.query import OUTLINE, ArticleFilter
from feedcrawl.domain.articles.records import ArticleRecord
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.tasks import MAX_CATEGORY
from feedcrawl.domain.search.documents import Filters
from feedcrawl.domain.search.query import MAX_CHARS
from feedcrawl.services.search.searching import highlights_of

if TYPE_CHECKING:
    from feedcrawl.services.search.searching import Hit

Answers = dict[int | str, schemas.Spec]
router = APIRouter(prefix="/articles", tags=["articles"], dependencies=[Depends(needs("read"))])

Uid = Annotated[str, Path(pattern="^[0-9a-f]{16}$", description="uid of an article", examples=["cc02fb5fb5814a26"])]
_SIGHTINGS: schemas.Spec = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Other URLs of the article",
}
OUTLINED = schemas.component("ArticleOutline", schemas.only(ArticleRecord, OUTLINE))
_HIGHLIGHTS = schemas.fields(title={"type": "string"}, text={"type": "string"}) | {
    "description": "With `q`: title and best passage as HTML, text escaped, the words found in `<mark>`"
}
LISTED = schemas.component("ListedArticle", schemas.only(ArticleRecord, OUTLINE, optional={"highlights": _HIGHLIGHTS}))
_PAGE = schemas.component("ArticlePage", schemas.page_of("articles", LISTED))
_ARTICLE = schemas.component("Article", schemas.published(ArticleRecord, without=["type"], sightings=_SIGHTINGS))
_LIST: Answers = {200: schemas.answer("Articles without their text", _PAGE)}
_ONE: Answers = {
    200: schemas.answer("The article", _ARTICLE),
    308: {"description": "Merged into the article to which `Location` leads"},
    **answers(404),
}
FEED_DOCUMENT: schemas.Spec = {
    "description": "Atom 1.0 (RFC 4287) or JSON Feed 1.1, by the end of the path",
    "content": {
        ATOM_TYPE.partition(";")[0]: {"schema": {"type": "string", "description": "Atom 1.0"}},
        JSON_TYPE.partition(";")[0]: {"schema": {"type": "object", "description": "JSON Feed 1.1"}},
    },
}
_FEED: Answers = {200: FEED_DOCUMENT, **answers(404)}
published = APIRouter(tags=["published feeds"], dependencies=[Depends(needs_unless_open("api_open_feeds")), HEAVY])
"""Feeds of stored articles, for readers and for hubs."""


@router.get("", operation_id="list_articles", dependencies=[HEAVY], responses=_LIST)
def list_articles(
    request: Request,
    wired: Wired,
    *,
    since: Annotated[Moment | None, Query(description="articles fetched at this time (RFC 3339) or later")] = None,
    feed: Annotated[
        str | None, Query(min_length=1, max_length=64, description="id of the feed that named the article")
    ] = None,
    host: Annotated[str | None, Query(min_length=1, max_length=253, description="host of the canonical URL")] = None,
    language: Annotated[str | None, Query(min_length=1, max_length=35, description="`en` means `en-GB` too")] = None,
    category: Annotated[
        str | None, Query(min_length=1, max_length=200, description="a category of the article")
    ] = None,
    q: Annotated[
        str | None, Query(max_length=MAX_CHARS, description="words that the article contains; see below")
    ] = None,
    source: Annotated[
        str | None, Query(min_length=1, max_length=253, description="with `q`: name of a source, or a host")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Response:
    """Articles without their text, the most recently fetched first.

    If few articles match, a page may have fewer than `limit`, or none, without being the last: continue while `next` is
    given.

    With `q` the articles in the search index in which all words occur, the best matches first: `"several words"` are a
    phrase, `-word` excludes a word, `begin*` is any word with this beginning.
    """
    if q is not None:
        filters = Filters(None if since is None else since.timestamp(), category, source, host, language, feed)
        place = place_of(cursor)
        matches = wired.search.find(q, filters, limit=limit, offset=int(place[0]) if place else 0)
        after = None if matches.next is None else (float(matches.next), "q")
        return shown(request, {"articles": [_listed(hit) for hit in matches.hits]}, after)
    if source is not None:
        raise Refusal("search_empty", "source is a filter of a search: give q too, or host instead")
    conditions = ArticleFilter(None if since is None else since.timestamp(), feed, host, language, category)
    found = wired.catalogue.page(conditions, wired.now(), before=place_of(cursor), limit=limit)
    return shown(request, {"articles": found.articles}, found.next)


def _listed(hit: Hit) -> dict[str, object]:
    outline = {name: value for name, value in hit.document.items() if name in OUTLINE}
    return outline | {"highlights": highlights_of(hit)}


@router.get("/{uid}", operation_id="get_article", responses=_ONE)
def get_article(uid: Uid, request: Request, wired: Wired) -> Response:
    """An article with its text and its sanitised HTML. A merged article redirects to the article that it was
    merged into.
    """
    found = wired.catalogue.get(uid)
    if found.merged_into is not None:
        return RedirectResponse(request.url_for("get_article", uid=found.merged_into).path, 308)
    return JSONResponse(found.article)


def _publisher(
    form: Form, request: Request, wired: Wired, *, cursor: Cursor = None, limit: Limit = 50
) -> Callable[[ArticleFilter, tuple[str, str]], Response]:
    """Renders a page of the selected articles as a feed with this name and query, without the articles that their
    publishers have withdrawn.
    """

    def publish(conditions: ArticleFilter, feed: tuple[str, str]) -> Response:
        page = wired.catalogue.page(conditions, wired.now(), before=place_of(cursor), limit=limit, html=True)
        kept = [article for article in page.articles if "deleted_at" not in article]
        return outfeed(request, wired.config, feed, kept, page.next, form=form)

    return publish


Publish = Annotated[Callable[[ArticleFilter, tuple[str, str]], Response], Depends(_publisher)]


@published.get(
    "/articles.{form:outfeed}", operation_id="articles_as_feed", response_class=Response, responses={**_FEED}
)
def articles_as_feed(
    wired: Wired,
    publish: Publish,
    *,
    feeds: Annotated[str | None, Query(max_length=4000, description="ids of feeds, separated by commas")] = None,
    category: Annotated[str | None, Query(min_length=1, max_length=MAX_CATEGORY)] = None,
    source: Annotated[str | None, Query(min_length=1, max_length=253)] = None,
) -> Response:
    """The articles of a set of feeds, of a category or of a source as a feed, with their HTML, the newest first."""
    ids = frozenset(filter(None, feeds.split(","))) if feeds is not None else None
    conditions = ArticleFilter(category=category, feeds=ids, source=source, sources=wired.current_sources())
    whose = {"feeds": feeds, "category": category, "source": source}
    query = urlencode({name: value for name, value in whose.items() if value})
    return publish(conditions, (query or "articles", f"?{query}" if query else ""))


@published.get(
    "/categories/{name}.{form:outfeed}",
    operation_id="category_as_feed",
    response_class=Response,
    responses={**_FEED},
)
def category_as_feed(name: Annotated[str, Path(min_length=1, max_length=MAX_CATEGORY)], publish: Publish) -> Response:
    """The articles of a category as a feed, with their HTML, the most recently fetched first."""
    return publish(ArticleFilter(category=name), (name, ""))


@published.get(
    "/sources/{name}.{form:outfeed}",
    operation_id="source_as_feed",
    response_class=Response,
    responses={**_FEED, **answers(404)},
)
def source_as_feed(
    name: Annotated[str, Path(min_length=1, max_length=253)], wired: Wired, publish: Publish
) -> Response:
    """The articles of a source as a feed, with their HTML, the most recently fetched first."""
    sources = wired.current_sources()
    if name not in sources:
        raise Refusal("no_such_source", f"there is no source {name[:80]!r}")
    return publish(ArticleFilter(source=name, sources=sources), (name, ""))
