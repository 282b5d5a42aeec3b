"""Export and import of the subscriptions as one list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response

from feedcrawl.api import problems, schemas
from feedcrawl.api.access import Caller, Writer, needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.etags import etag_of
from feedcrawl.api.jobs import Jobs
from feedcrawl.api.limits.places import HEAVY, Heavy
from feedcrawl.api.pieces import Pieces
from feedcrawl.domain.frontier.tasks import MAX_CATEGORY
from feedcrawl.domain.operations.import_jobs import MAX_REFUSED
from feedcrawl.domain.subscriptions.listed import categories_of
from feedcrawl.services.operations import imports
from feedcrawl.services.subscriptions import listing
from feedcrawl.store.subscriptions.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.domain.operations.import_jobs import ImportJob
    from feedcrawl.domain.subscriptions.specs import Refused

router = APIRouter(prefix="/opml", tags=["opml"], dependencies=[Depends(needs("read"))])

AT_ONCE = 1_000
"""Feeds of a list that are subscribed before the response; longer lists become a job."""
TYPES = {"opml": "text/x-opml; charset=utf-8", "text": "text/plain", "csv": "text/csv", "json": "application/json"}
_REFUSED = schemas.component(
    "RefusedFeed", schemas.fields(url={"type": "string"}, code={"type": "string"}, detail={"type": "string"})
)
_IMPORTED = schemas.component(
    "ImportedFeeds",
    schemas.fields(
        ids={"type": "array", "items": {"type": "string", "format": "uuid"}, "description": "In the order of the list"},
        refused={"type": "array", "items": _REFUSED},
        left_out={"type": "integer", "description": "Number of feeds after the first FEEDCRAWL_MAX_FEEDS_PER_LIST"},
    ),
)
_LISTED = {"type": "array", "items": {"type": "object", "description": "A feed with its settings"}}
_COUNT = {"type": "integer", "minimum": 0}
_TIME = {"type": "string", "format": "date-time"}
_JOB = schemas.component(
    "Import",
    schemas.fields(
        id={"type": "string", "format": "uuid"},
        status={"enum": ["running", "done", "interrupted"], "description": "interrupted: send the list again"},
        listed={**_COUNT, "description": "Number of feeds in the list"},
        done={**_COUNT, "description": "Number of processed feeds"},
        subscribed={**_COUNT, "description": "Number of subscribed feeds, those subscribed before included"},
        refused_count=_COUNT,
        refused={"type": "array", "items": _REFUSED, "description": f"The first {MAX_REFUSED:,}"},
        left_out={**_COUNT, "description": "Number of feeds after the first FEEDCRAWL_MAX_FEEDS_PER_LIST"},
        created_at=_TIME,
        updated_at=_TIME,
    ),
)


@router.get(
    "",
    operation_id="export_feeds",
    responses={
        200: {
            "description": "All subscriptions, by URL",
            "content": {
                kind.partition(";")[0]: {"schema": _LISTED if form == "json" else {"type": "string"}}
                for form, kind in TYPES.items()
            },
        }
    },
)
async def export_feeds(
    request: Request,
    wired: Wired,
    *,
    form: Annotated[Literal["opml", "text", "csv", "json"], Query(alias="format")] = "opml",
) -> Response:
    """All subscriptions as a list for other programs, with the settings of each.

    Callers that ask at the same time get one list, made after the last of their requests.
    """
    heavy: Heavy = request.app.state.heavy
    etag, content = await heavy.shared(f"opml {form}", lambda: _exported(wired.registry, form))
    return Pieces(content, headers={"ETag": etag}, media_type=TYPES[form])


def _exported(registry: Registry, form: str) -> tuple[str, bytes]:
    content = listing.exported(registry, form)
    return etag_of(content), content


@router.post(
    "",
    operation_id="import_feeds",
    dependencies=[Depends(needs("write")), HEAVY],
    responses={
        200: schemas.answer("The result of the import", _IMPORTED),
        202: schemas.answer("A long list: `Location` leads to the progress of its import", _JOB),
        **problems.answers(409, 413),
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": schemas.text_or_bytes(*TYPES.values()),
        }
    },
)
async def import_feeds(
    request: Request,
    wired: Wired,
    caller: Writer,
    *,
    category: Annotated[
        str | None, Query(max_length=MAX_CATEGORY, description="additional category of the feeds")
    ] = None,
) -> Response:
    """Subscribes to the feeds of a list: OPML, a URL per line, CSV or JSON; the Content-Type is ignored.

    A list of up to 1 000 feeds is answered after all are subscribed; a longer list at once (202), with a job to follow.
    """
    came = await take_list(request, wired, caller, await request.body(), categories_of([category or ""]))
    if came.job is None:
        records = list(map(imports.refused_record, came.refused))
        return JSONResponse({"ids": came.ids, "refused": records, "left_out": came.left_out})
    return JSONResponse(imports.job_record(came.job), 202, {"Location": f"{router.prefix}/imports/{came.job.id}"})


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of a list: the ids and the refused feeds, or the job of a list that is too long to wait for."""

    listed: int
    left_out: int
    ids: Sequence[str] = ()
    refused: Sequence[Refused] = ()
    job: ImportJob | None = None


async def take_list(
    request: Request, wired: Wired, caller: Caller, body: bytes, categories: tuple[str, ...]
) -> Imported:
    """Subscribes to the feeds of a list, or begins the job that does. Raises the refusals of `read_feeds`."""
    feeds = await run_in_threadpool(wired.imports.read_feeds, body, categories, request.state.request_id)
    if len(feeds.specs) <= AT_ONCE:
        ids, refused = await run_in_threadpool(wired.imports.import_now, feeds)
        return Imported(len(feeds.specs), feeds.left_out, ids, refused)
    job = await run_in_threadpool(wired.imports.new_job, feeds)
    jobs: Jobs = request.app.state.jobs
    jobs.start(caller.token_id or caller.actor, wired.imports.import_steps(job, feeds))
    return Imported(len(feeds.specs), feeds.left_out, job=job)


@router.get(
    "/imports/{job_id}",
    operation_id="get_import",
    responses={200: schemas.answer("The import", _JOB), **problems.answers(404)},
)
def get_import(job_id: Annotated[UUID, Path(description="id of an import")], wired: Wired) -> Response:
    """The progress of the import of a long list, and the refused feeds."""
    return JSONResponse(imports.job_record(wired.imports.find_job(str(job_id))))
