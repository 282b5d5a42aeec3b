"""The subscriptions as one list, out and in."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response

from feedcrawl.api import problems, schemas
from feedcrawl.api.access import needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.domain.subscriptions.listed import MAX_CATEGORY, categories_of
from feedcrawl.services.operations import imports
from feedcrawl.services.subscriptions import registering

router = APIRouter(prefix="/opml", tags=["opml"], dependencies=[Depends(needs("read"))])

TYPES = {"opml": "text/x-opml; charset=utf-8", "text": "text/plain", "csv": "text/csv", "json": "application/json"}
_REFUSED = schemas.fields(url={"type": "string"}, code={"type": "string"}, detail={"type": "string"})
_IMPORTED = schemas.fields(
    ids={"type": "array", "items": {"type": "string", "format": "uuid"}, "description": "In the order of the list"},
    refused={"type": "array", "items": _REFUSED},
    left_out={"type": "integer", "description": "How many came after the first FEEDCRAWL_MAX_FEEDS_PER_LIST"},
)


@router.get(
    "",
    operation_id="export_feeds",
    responses={
        200: {
            "description": "All subscriptions, by URL",
            "content": {
                kind.partition(";")[0]: {"schema": {"type": "array" if form == "json" else "string"}}
                for form, kind in TYPES.items()
            },
        }
    },
)
def export_feeds(
    wired: Wired,
    *,
    form: Annotated[Literal["opml", "text", "csv", "json"], Query(alias="format")] = "opml",
) -> Response:
    """All subscriptions as a list for other programs, with what was decided of each."""
    return Response(registering.exported(wired.registry, form), media_type=TYPES[form])


@router.post(
    "",
    operation_id="import_feeds",
    dependencies=[Depends(needs("write"))],
    responses={200: schemas.answer("What became of them", _IMPORTED), **problems.answers(409, 413)},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {kind.partition(";")[0]: {"schema": {"type": "string"}} for kind in TYPES.values()},
        }
    },
)
async def import_feeds(
    request: Request,
    wired: Wired,
    *,
    category: Annotated[str | None, Query(max_length=MAX_CATEGORY, description="that they get besides")] = None,
) -> Response:
    """Subscribes to the feeds of a list: OPML, a URL a line, CSV or JSON, whatever its type says."""
    body, categories = await request.body(), categories_of([category or ""])
    came = await run_in_threadpool(imports.import_list, wired, body, categories, request.state.request_id)
    refused = list(map(imports.refused_record, came.refused))
    return JSONResponse({"ids": list(came.ids), "refused": refused, "left_out": came.left_out})
