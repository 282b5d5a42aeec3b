"""The frontier: its statistics, tasks and hosts, and the import of pages to fetch."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from feedcrawl.api import schemas
from feedcrawl.api.access import needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.limits.places import HEAVY
from feedcrawl.api.paging import Cursor, Limit, Moment, place_of, shown
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.records import TaskRecord
from feedcrawl.domain.frontier.selection import TaskFilter
from feedcrawl.domain.frontier.statistics import WHY
from feedcrawl.domain.frontier.statistics_records import DueFrontierRecord, HostRecord
from feedcrawl.domain.frontier.tasks import MAX_CATEGORY, Kind, Origin
from feedcrawl.domain.http.encodings import decode
from feedcrawl.domain.urls import MAX_URL_LENGTH
from feedcrawl.services.frontier import listing
from feedcrawl.services.operations import imports

router = APIRouter(prefix="/frontier", tags=["frontier"], dependencies=[Depends(needs("read"))])

PARTS, PART = 100, 200
"""Of the frontier that one page goes through, and keys in each: a page with rare conditions then ends early."""
_SHA256 = "^[0-9a-f]{64}$"
Status = Literal["pending", "fetching", "fetched", "dead", "quarantined"]
_TASK = schemas.component("Task", schemas.published(TaskRecord))
_URLS = schemas.answer("Tasks", schemas.component("TaskPage", schemas.page_of("urls", _TASK)))
_IMPORTED = schemas.component(
    "ImportedUrl",
    {
        "type": "object",
        "properties": {
            "url": {"type": "string"},
            "uid": {
                "type": ["string", "null"],
                "description": "uid of the article, unless the page names another canonical URL",
            },
            "answer": {
                "enum": ["queued", "again", "raised", "pending", "leased", "known", "refused"],
                "description": "new; queued again; now sooner; pending; leased; fetched recently; cannot be fetched",
            },
            "code": {"type": "string"},
            "detail": {"type": "string"},
        },
        "required": ["url", "uid", "answer"],
        "additionalProperties": False,
    },
)
_IMPORTED_URLS = schemas.component("ImportedUrls", schemas.fields(urls={"type": "array", "items": _IMPORTED}))


class Urls(BaseModel):
    """Pages to fetch as articles."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"urls": ["https://news.example.com/bridge"], "category": "villages"}]},
    )

    urls: list[Annotated[str, Field(min_length=1, max_length=MAX_URL_LENGTH)]] = Field(
        min_length=1, max_length=imports.MAX_URLS
    )
    category: str | None = Field(None, min_length=1, max_length=MAX_CATEGORY)
    priority: int | None = Field(None, ge=1, le=10, description="default: the priority of the URL's source, else 5")
    again: bool = Field(default=False, description="fetch recently fetched URLs too")


@router.get(
    "",
    operation_id="frontier_figures",
    dependencies=[HEAVY],
    responses={
        200: schemas.answer("Numbers of tasks", schemas.component("Frontier", schemas.published(DueFrontierRecord)))
    },
)
def frontier_figures(wired: Wired) -> Response:
    """Numbers of tasks by status, kind, origin and source, the states of their hosts, and how late tasks were
    taken.
    """
    statistics = wired.frontier.statistics()
    record: DueFrontierRecord = {**listing.statistics_record(statistics), "due": statistics.due}
    return JSONResponse(record)


def conditions(
    *,
    host: Annotated[str | None, Query(max_length=253)] = None,
    source: Annotated[str | None, Query(max_length=100)] = None,
    status: Annotated[Status | None, Query()] = None,
    kind: Annotated[Kind | None, Query()] = None,
    text: Annotated[str | None, Query(max_length=200, description="a part of the URL")] = None,
    origin: Annotated[Origin | None, Query()] = None,
    category: Annotated[str | None, Query(max_length=MAX_CATEGORY)] = None,
    parent: Annotated[
        str | None, Query(max_length=MAX_URL_LENGTH, description="URLs named by this feed or page")
    ] = None,
    depth: Annotated[int | None, Query(ge=0)] = None,
    priority: Annotated[int | None, Query(ge=1, le=10)] = None,
    error: Annotated[
        str | None, Query(max_length=100, description="reason code of the last failure, or of the end")
    ] = None,
    min_retries: Annotated[int | None, Query(ge=0, description="least number of failed tries")] = None,
    min_fetches: Annotated[int | None, Query(ge=0, description="least number of fetches")] = None,
    url_hash: Annotated[str | None, Query(pattern=_SHA256)] = None,
    content_hash: Annotated[str | None, Query(pattern=_SHA256)] = None,
    discovered_after: Annotated[Moment | None, Query()] = None,
    discovered_before: Annotated[Moment | None, Query()] = None,
    fetched_after: Annotated[Moment | None, Query()] = None,
    fetched_before: Annotated[Moment | None, Query()] = None,
    next_fetch_after: Annotated[Moment | None, Query()] = None,
    next_fetch_before: Annotated[Moment | None, Query()] = None,
) -> TaskFilter:
    """The conditions that a query sets."""
    return TaskFilter(
        host=host and host.lower(),
        source=source,
        status=status,
        kind=kind,
        text=text,
        origin=origin,
        category=category,
        parent=parent,
        depth=depth,
        priority=priority,
        error=error,
        min_retries=min_retries,
        min_fetches=min_fetches,
        url_hash=url_hash,
        content_hash=content_hash,
        discovered_after=discovered_after,
        discovered_before=discovered_before,
        fetched_after=fetched_after,
        fetched_before=fetched_before,
        next_fetch_after=next_fetch_after,
        next_fetch_before=next_fetch_before,
    )


@router.get("/urls", operation_id="list_urls", dependencies=[HEAVY], responses={200: _URLS})
def list_urls(
    request: Request,
    wired: Wired,
    given: Annotated[TaskFilter, Depends(conditions)],
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Response:
    """Tasks in no order, as SCAN returns them: a page may have more than `limit`, or none without being the last.

    Continue while `next` is given.
    """
    place = place_of(cursor) or (0.0, "0")
    if not (place[1].isascii() and place[1].isdigit() and len(place[1]) < 40):
        raise Refusal("bad_cursor", "cursor must be the `next` of a page, unchanged")
    stores = wired.frontier, wired.articles
    following, found = listing.urls(*stores, given, cursor=int(place[1]), limit=limit, parts=PARTS, part=PART)
    after = (0.0, str(following)) if following else None
    return shown(request, {"urls": listing.task_records(*stores, found)}, after)


@router.post(
    "/urls",
    status_code=202,
    operation_id="import_urls",
    dependencies=[Depends(needs("write")), HEAVY],
    responses={
        202: schemas.answer("The result for each URL", _IMPORTED_URLS),
    },
)
def import_urls(body: Urls, wired: Wired) -> Response:
    """Enqueues pages to fetch as articles. Each URL is judged separately: a refused URL does not affect others."""
    options = imports.UrlOptions(body.category, body.priority, body.again)
    return JSONResponse({"urls": wired.imports.queue_urls(body.urls, options)}, 202)


@router.post(
    "/urls/file",
    status_code=202,
    operation_id="import_file_of_urls",
    dependencies=[Depends(needs("write")), HEAVY],
    responses={
        202: schemas.answer("The result for each URL", _IMPORTED_URLS),
    },
    openapi_extra={"requestBody": {"required": True, "content": schemas.text_or_bytes("text/plain")}},
)
async def import_file_of_urls(
    request: Request,
    wired: Wired,
    *,
    category: Annotated[str | None, Query(min_length=1, max_length=MAX_CATEGORY)] = None,
    priority: Annotated[int | None, Query(ge=1, le=10)] = None,
    again: Annotated[bool, Query(description="fetch recently fetched URLs too")] = False,
) -> Response:
    """The same with a file: one URL per line; empty lines and lines that begin with `#` are ignored."""
    lines = imports.lines_of(decode(await request.body()).text)
    options = imports.UrlOptions(category, priority, again)
    return JSONResponse({"urls": await run_in_threadpool(wired.imports.queue_urls, lines, options)}, 202)


@router.get(
    "/hosts/{host}",
    operation_id="get_host",
    responses={200: schemas.answer("Pace and circuit", schemas.component("Host", schemas.published(HostRecord)))},
)
def get_host(host: Annotated[str, Path(min_length=1, max_length=253)], wired: Wired) -> Response:
    """A host's pace and circuit, those of its registered domain, its failing robots.txt, and why its tasks wait."""
    found, config = wired.frontier.host(host.lower()), wired.config
    waits = listing.robots_waits(
        wired.hosts, found.name, grace_sec=config.robots_grace_sec, on_error=config.robots_on_error
    )
    record: HostRecord = {**listing.host_record(found, waits), "because": WHY[found.waits_for]}
    return JSONResponse(record)
