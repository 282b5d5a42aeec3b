"""The archive: an exchange with a server, as a record or as the bytes received."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import JSONResponse, Response

from feedcrawl.api import problems, schemas
from feedcrawl.api.access import needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.services.archive import capture

router = APIRouter(prefix="/raw", tags=["raw"], dependencies=[Depends(needs("read"))])

BYTES = "application/octet-stream"


@router.get(
    "/{fetch_id}",
    operation_id="get_raw",
    responses={
        200: {
            "description": "The record of the fetch, or with `part` the bytes",
            "content": {
                "application/json": {"schema": schemas.component("RawFetch", {"type": "object"})},
                BYTES: {"schema": {"type": "string", "format": "binary"}},
            },
        },
        **problems.answers(404),
    },
)
def get_raw(
    fetch_id: Annotated[UUID, Path(description="`fetch_id` of a journal, an entry or an article")],
    wired: Wired,
    *,
    part: Annotated[
        Literal["body", "request", "response"] | None,
        Query(description="the exact bytes: a whole message, or the body as it was sent, with its content coding"),
    ] = None,
) -> Response:
    """An exchange in this machine's archive; if it is on another machine, the problem names that machine."""
    if part is None:
        return JSONResponse(capture.record(wired.config.data_dir, str(fetch_id)))
    content = capture.read(wired.config.data_dir, str(fetch_id), part)
    name = f"{fetch_id}.{part}"
    return Response(content, headers={"Content-Disposition": f'attachment; filename="{name}"'}, media_type=BYTES)
