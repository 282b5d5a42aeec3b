"""Stored articles: the newest that match the filters, a page at a time, and each by its uid."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from feedcrawl.api import schemas
from feedcrawl.api.access import needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.limits.places import HEAVY
from feedcrawl.api.paging import Cursor, Limit, Moment, place_of, shown
from feedcrawl.api.problems import answers
from feedcrawl.domain.articles.query import OUTLINE, Wanted
from feedcrawl.domain.articles.records import ArticleRecord

Answers = dict[int | str, schemas.Spec]
router = APIRouter(prefix="/articles", tags=["articles"], dependencies=[Depends(needs("read"))])

Uid = Annotated[str, Path(pattern="^[0-9a-f]{16}$", description="uid of an article", examples=["cc02fb5fb5814a26"])]
OUTLINED = schemas.component("ArticleOutline", schemas.only(ArticleRecord, OUTLINE))
_SIGHTINGS: schemas.Spec = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Other URLs under which it was met",
}
_PAGE = schemas.component("ArticlePage", schemas.page_of("articles", OUTLINED))
_ARTICLE = schemas.component("Article", schemas.published(ArticleRecord, without=["type"], sightings=_SIGHTINGS))
_LIST: Answers = {200: schemas.answer("Articles without their text", _PAGE)}
_ONE: Answers = {
    200: schemas.answer("The article", _ARTICLE),
    308: {"description": "It has joined the article to which `Location` leads"},
    **answers(404),
}


@router.get("", operation_id="list_articles", dependencies=[HEAVY], responses=_LIST)
def list_articles(
    request: Request,
    wired: Wired,
    *,
    since: Annotated[Moment | None, Query(description="fetched then or later (RFC 3339)")] = None,
    feed: Annotated[str | None, Query(min_length=1, max_length=64, description="id of the feed that named it")] = None,
    host: Annotated[str | None, Query(min_length=1, max_length=253, description="host of its canonical URL")] = None,
    language: Annotated[str | None, Query(min_length=1, max_length=35, description="`en` means `en-GB` too")] = None,
    category: Annotated[str | None, Query(min_length=1, max_length=200, description="a category that it is in")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Response:
    """Articles without their text, the most recently fetched first.

    If few articles match, a page may have fewer than `limit`, or none, without being the last: continue while `next` is
    given.
    """
    wanted = Wanted(None if since is None else since.timestamp(), feed, host, language, category)
    found = wired.catalogue.page(wanted, wired.now(), before=place_of(cursor), limit=limit)
    return shown(request, {"articles": found.articles}, found.next)


@router.get("/{uid}", operation_id="get_article", responses=_ONE)
def get_article(uid: Uid, request: Request, wired: Wired) -> Response:
    """An article with its text and its sanitised HTML. A merged article redirects to the article that it was
    merged into.
    """
    found = wired.catalogue.get(uid)
    if found.winner is not None:
        return RedirectResponse(request.url_for("get_article", uid=found.winner).path, 308)
    return JSONResponse(found.article)
