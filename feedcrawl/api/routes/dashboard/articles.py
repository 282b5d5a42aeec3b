"""Pages of the stored articles: their list or a search, each article, and its HTML for a frame."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Path, Request
from fastapi.responses import RedirectResponse, Response

from feedcrawl.api.access import Reader
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.pages import templates
from feedcrawl.api.pages.route import HEAVY_PAGE, PageRoute, Text, context
from feedcrawl.api.paging import Cursor, cursor_of, place_of
from feedcrawl.domain.articles.fields import ArticleFields
from feedcrawl.domain.articles.query import ArticleFilter
from feedcrawl.domain.sanitize import clean_html
from feedcrawl.domain.search.documents import Filters
from feedcrawl.services.articles.catalogue import SightedArticle

router = APIRouter(include_in_schema=False, route_class=PageRoute)

HERE: Final = "/dashboard/articles"
Uid = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
CONTENT_POLICY: Final = (
    f"default-src 'none'; style-src {templates.STYLE_SOURCE}; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; sandbox"
)


@router.get(HERE, dependencies=HEAVY_PAGE)
def show_articles(
    request: Request,
    caller: Reader,
    wired: Wired,
    *,
    q: Text = "",
    host: Text = "",
    category: Text = "",
    cursor: Cursor = None,
) -> Response:
    """Stored articles, the most recently fetched first, or the best matches of a search."""
    filters = {"q": q.strip(), "host": host.strip(), "category": category.strip()}
    place, named = place_of(cursor), {name: value or None for name, value in filters.items()}
    if filters["q"]:
        of_search = Filters(host=named["host"], category=named["category"])
        matches = wired.search.find(filters["q"], of_search, limit=50, offset=int(place[0]) if place else 0)
        after = None if matches.next is None else (float(matches.next), "q")
        stored = wired.articles.stored([hit.document["uid"] for hit in matches.hits])
        values: dict[str, object] = {"hits": matches.hits, "stored": stored}
    else:
        found = wired.catalogue.page(
            ArticleFilter(host=named["host"], category=named["category"]), wired.now(), before=place
        )
        after, values = found.next, {"found": found}
    later = f"{HERE}{templates.query(**filters, cursor=cursor_of(after))}" if after else ""
    page = context(request, wired.now(), caller, HERE)
    return templates.render("articles.html", page | filters | values | {"later": later})


@router.get(f"{HERE}/{{uid}}")
def show_article(request: Request, caller: Reader, wired: Wired, uid: Uid) -> Response:
    """An article: its text, its sanitised HTML in a frame, its origin, and its versions."""
    found = wired.catalogue.get(uid)
    if found.article is None:
        return RedirectResponse(f"{HERE}/{found.merged_into}", 303)
    absent: ArticleFields = {
        "final_url": None,
        "published": None,
        "language": None,
        "site_name": None,
        "title": None,
        "feed_id": None,
    }
    article: SightedArticle = {**absent, **found.article}
    feed_id = article["feed_id"]
    feed = wired.registry.load([feed_id]).get(feed_id) if feed_id else None
    task = wired.frontier.find(uid)
    values = {
        "article": article,
        "feed": feed,
        "history": task[1] if task else None,
        "versions": wired.dashboard.versions(uid),
    }
    return templates.render("article.html", context(request, wired.now(), caller, HERE) | values)


@router.get(f"{HERE}/{{uid}}/content")
def show_content(caller: Reader, wired: Wired, uid: Uid) -> Response:  # noqa: ARG001 - must be one who may
    """An article's HTML alone, for a frame without scripts and requests: pictures are left out."""
    article = wired.catalogue.get(uid).article or ArticleFields()
    html = clean_html(article.get("content_html") or "", base_url=article.get("canonical_url") or "")
    answer = templates.render(
        "content.html",
        {
            "html": templates.without_pictures(html),
            "title": article.get("title") or "Article",
            "language": article.get("language") or "",
        },
    )
    answer.headers["Content-Security-Policy"] = CONTENT_POLICY
    return answer
