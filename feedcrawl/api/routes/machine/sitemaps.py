"""Watched sitemaps: their settings, and the reasons and results of their polls."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from feedcrawl.api import problems, schemas
from feedcrawl.api.access import needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.paging import Cursor, Limit, place_of, shown
from feedcrawl.api.routes.machine.feeds import FETCHES, TAKEN, Categories
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.tasks import MAX_CATEGORY
from feedcrawl.domain.subscriptions.listed import categories_of
from feedcrawl.domain.subscriptions.sitemap_records import SitemapPublicRecord, SitemapWhyRecord
from feedcrawl.domain.subscriptions.specs import SubscriptionSpec
from feedcrawl.domain.urls import MAX_URL_LENGTH
from feedcrawl.services.sites import watched, watching
from feedcrawl.services.subscriptions import listing
from feedcrawl.services.subscriptions.finding import with_scheme

router = APIRouter(prefix="/sitemaps", tags=["sitemaps"], dependencies=[Depends(needs("read"))])

WRITES = [Depends(needs("write"))]
SitemapId = Annotated[UUID, Path(description="id of a sitemap", examples=["0b5bca8e-6b5a-4b0e-9f4f-0d1a2b3c4d5e"])]
MISSING = problems.answers(404)
_SITEMAP = schemas.component("Sitemap", schemas.published(SitemapPublicRecord))
_PAGE = schemas.component("SitemapPage", schemas.page_of("sitemaps", _SITEMAP))
_WHY = schemas.component("SitemapWhy", schemas.published(SitemapWhyRecord))


class NewSitemap(BaseModel):
    """A sitemap, or a page of a site, which stands for the site's sitemaps."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"url": "https://news.example.com/sitemap.xml"}]}
    )

    url: str = Field(min_length=1, max_length=MAX_URL_LENGTH)
    categories: Categories = []


@router.get("", operation_id="list_sitemaps", responses={200: schemas.answer("Sitemaps", _PAGE)})
def list_sitemaps(
    request: Request,
    wired: Wired,
    *,
    category: Annotated[str | None, Query(max_length=MAX_CATEGORY)] = None,
    source: Annotated[str | None, Query(max_length=100, description="name of a source")] = None,
    host: Annotated[str | None, Query(max_length=253)] = None,
    root: Annotated[UUID | None, Query(description="only the parts below this sitemap")] = None,
    parts: Annotated[bool, Query(description="include the parts of indexes")] = True,
    failing: Annotated[
        bool | None, Query(description="true: sitemaps whose last poll failed; false: the others")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Response:
    """Sitemaps in no order; each sitemap that exists during the whole listing comes at least once.

    If few sitemaps match, a page may have fewer than `limit`, or none, without being the last: continue while `next` is
    given.
    """
    conditions = watched.SitemapFilter(category, source, host, str(root) if root else None, parts, failing)
    found, following = listing.page(wired.sitemaps, conditions, place_of(cursor), limit)
    return shown(request, {"sitemaps": [watched.public(each, wired.config) for each in found]}, following)


@router.post(
    "",
    status_code=201,
    operation_id="watch_sitemap",
    dependencies=WRITES,
    responses={
        201: schemas.answer("Watched, and due at once", _SITEMAP),
        200: schemas.answer("Watched already, under this or another spelling of the URL", _SITEMAP),
    },
)
def watch(body: NewSitemap, wired: Wired) -> Response:
    """Watches a sitemap. It is due at once; the crawl requests it, the API itself requests nothing."""
    url = wired.gate.passed(with_scheme(body.url))
    is_new = watched.find(wired.sitemaps, url) is None
    watched_sitemaps, refused = watching.sitemaps_from(
        [SubscriptionSpec(url, categories_of(body.categories))], wired.now()
    )
    if refused:
        raise Refusal(refused[0].code, refused[0].detail)
    ids = watching.watch(wired.sitemaps, wired.frontier, watched_sitemaps)
    watching.settle_settings(wired.sitemaps, watched_sitemaps, ids)
    found = watched.public(watched.one(wired.sitemaps, ids[0]), wired.config)
    return JSONResponse(found, 201 if is_new else 200, {"Location": f"{router.prefix}/{ids[0]}"})


@router.get(
    "/{sitemap_id}", operation_id="get_sitemap", responses={200: schemas.answer("The sitemap", _SITEMAP), **MISSING}
)
def get_sitemap(sitemap_id: SitemapId, wired: Wired) -> Response:
    """A sitemap: its schedule and the results of its last poll."""
    return JSONResponse(watched.public(watched.one(wired.sitemaps, str(sitemap_id)), wired.config))


@router.delete(
    "/{sitemap_id}", status_code=204, operation_id="drop_sitemap", dependencies=WRITES, responses=problems.answers(404)
)
def drop_sitemap(sitemap_id: SitemapId, wired: Wired) -> None:
    """Stops watching a sitemap and the parts of its index; its articles stay."""
    watching.forget(wired.sitemaps, wired.frontier, watched.one(wired.sitemaps, str(sitemap_id)).sitemap)


@router.post(
    "/{sitemap_id}/refetch",
    status_code=202,
    operation_id="refetch_sitemap",
    dependencies=WRITES,
    responses={202: schemas.answer("It is due", TAKEN), **MISSING},
)
def refetch(sitemap_id: SitemapId, wired: Wired) -> Response:
    """Makes a sitemap due now, regardless of its schedule; its host's pace still holds."""
    found = watched.one(wired.sitemaps, str(sitemap_id))
    watched.poll_now(wired.frontier, [found])
    return JSONResponse({"id": found.id, "next_at": rfc3339(wired.now())}, 202)


@router.get("/{sitemap_id}/why", operation_id="why_sitemap", responses={200: schemas.answer("Why", _WHY), **MISSING})
def why(sitemap_id: SitemapId, wired: Wired) -> Response:
    """The time of the next poll, and each rule with the wait that it proposed."""
    return JSONResponse(watched.explained(watched.one(wired.sitemaps, str(sitemap_id))))


@router.get(
    "/{sitemap_id}/fetches",
    operation_id="list_fetches_of_sitemap",
    responses={200: schemas.answer("Its journal", FETCHES), **MISSING},
)
def list_fetches(sitemap_id: SitemapId, wired: Wired) -> Response:
    """The results of the last polls, the last first."""
    return JSONResponse({"fetches": wired.sitemaps.journal(watched.one(wired.sitemaps, str(sitemap_id)).id)})
