"""Pages of the watched sitemaps: their list, each sitemap, and the forms that poll or drop it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import RedirectResponse, Response

from feedcrawl.api.access import Reader, needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.pages import templates
from feedcrawl.api.pages.route import HEAVY_PAGE, PageRoute, confirm, context
from feedcrawl.api.paging import Cursor, cursor_of, place_of
from feedcrawl.services.sites import watched, watching
from feedcrawl.services.subscriptions import listing

router = APIRouter(include_in_schema=False, route_class=PageRoute)

HERE: Final = "/dashboard/sitemaps"
WRITES: Final = [Depends(needs("write"))]
SitemapId = Annotated[str, Path(max_length=64)]
SITEMAPS_A_PAGE: Final = 50


@router.get(HERE, dependencies=HEAVY_PAGE)
def show_sitemaps(
    request: Request,
    caller: Reader,
    wired: Wired,
    *,
    source: Annotated[str, Query(max_length=100)] = "",
    host: Annotated[str, Query(max_length=253)] = "",
    root: Annotated[str, Query(max_length=64)] = "",
    failing: bool = False,
    cursor: Cursor = None,
) -> Response:
    """The watched sitemaps without the parts of indexes, the parts below one of them, or the failing sitemaps."""
    filters = {"source": source.strip(), "host": host.strip().lower(), "root": root, "failing": int(failing)}
    conditions = watched.SitemapFilter(
        source=source.strip() or None,
        host=host.strip() or None,
        root=root or None,
        parts=bool(root) or failing,
        failing=failing or None,
    )
    found, following = listing.page(wired.sitemaps, conditions, place_of(cursor), SITEMAPS_A_PAGE)
    later = f"{HERE}{templates.query(**filters, cursor=cursor_of(following))}" if following else ""
    values = {
        "found": [watched.public(each, wired.config) for each in found],
        "count": wired.sitemaps.count(),
        "filters": filters,
        "later": later,
    }
    return templates.render("sitemaps.html", context(request, wired.now(), caller, HERE) | values)


@router.get(f"{HERE}/{{sitemap_id}}")
def show_sitemap(
    request: Request, caller: Reader, wired: Wired, sitemap_id: SitemapId, done: Literal["refetch", ""] = ""
) -> Response:
    """A sitemap: its next poll with the reason, and its journal."""
    found = watched.one(wired.sitemaps, sitemap_id)
    values = {
        "sitemap": watched.public(found, wired.config),
        "why": watched.explained(found),
        "journal": wired.sitemaps.journal(found.id),
        "parts_below": len(wired.sitemaps.tree(found.id)),
        "done": "The sitemap is due now: the next free worker polls it." if done else "",
    }
    return templates.render("sitemap.html", context(request, wired.now(), caller, HERE) | values)


@router.post(f"{HERE}/{{sitemap_id}}/refetch", dependencies=WRITES)
def refetch(wired: Wired, sitemap_id: SitemapId) -> Response:
    """Makes a sitemap due at once."""
    watched.poll_now(wired.frontier, [watched.one(wired.sitemaps, sitemap_id)])
    return RedirectResponse(f"{HERE}/{templates.segment(sitemap_id)}?done=refetch", 303)


@router.get(f"{HERE}/{{sitemap_id}}/drop", dependencies=WRITES)
def ask_to_drop(request: Request, caller: Reader, wired: Wired, sitemap_id: SitemapId) -> Response:
    """Asks whether a sitemap is to be dropped."""
    found = watched.one(wired.sitemaps, sitemap_id)
    return confirm(
        request,
        wired.now(),
        caller,
        HERE,
        back=f"{HERE}/{templates.segment(found.id)}",
        verb="drop",
        question="Stop watching this sitemap?",
        subject=found.sitemap.url,
        consequence="It and the parts of its index are polled no more. Their articles stay.",
        button="Stop watching",
    )


@router.post(f"{HERE}/{{sitemap_id}}/drop", dependencies=WRITES)
def drop(wired: Wired, sitemap_id: SitemapId) -> Response:
    """Stops watching a sitemap and the parts of its index; its articles stay."""
    watching.forget(wired.sitemaps, wired.frontier, watched.one(wired.sitemaps, sitemap_id).sitemap)
    return RedirectResponse(HERE, 303)
