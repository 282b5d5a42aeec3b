"""Page records: request a page by its URL, follow its record, retry a failed page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from feedcrawl.api import schemas
from feedcrawl.api.access import Writer, needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.problems import answers
from feedcrawl.domain.articles.page_records import MediaRecord
from feedcrawl.domain.urls import MAX_URL_LENGTH
from feedcrawl.store.articles.collections import DEFAULT

if TYPE_CHECKING:
    from feedcrawl.domain.articles.media import Media

router = APIRouter(prefix="/media", tags=["media"])

MediaId = Annotated[UUID, Path(description="media_id of a record")]
_PAGE_RECORD = schemas.component("PageRecord", schemas.published(MediaRecord))
_RECORD = schemas.answer("The record", schemas.component("PageRecordData", schemas.fields(data=_PAGE_RECORD)))
_TAKEN = schemas.component(
    "RequestedPage",
    schemas.fields(
        **{
            **schemas.only(MediaRecord, ["media_id", "duplicate", "processing_status"])["properties"],
            "ingest_enqueued": {"type": "boolean", "description": "True if the task to fetch the page is queued"},
        }
    ),
)
_TAKEN_ANSWER = schemas.answer(
    "Accepted; a crawl fetches the page", schemas.component("RequestedPageData", schemas.fields(data=_TAKEN))
)


class FromUrl(BaseModel):
    """A page, and the caller's collection that it is put into."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"url": "https://news.example.com/bridge"}]}
    )

    url: str = Field(min_length=1, max_length=MAX_URL_LENGTH, description="http or https, absolute")
    collection: str = Field(DEFAULT, min_length=1, max_length=64)


@router.post(
    "/from_url", status_code=202, operation_id="media_from_url", responses={202: _TAKEN_ANSWER, **answers(404)}
)
def media_from_url(body: FromUrl, request: Request, wired: Wired, caller: Writer) -> Response:
    """Requests a page as an article, and puts it into a collection of the caller.

    The response comes at once; follow `GET /media/{media_id}`. A stored article is ready at once, a failed page is
    tried again. `duplicate`: the URL is known to lead to another article, whose record this is.
    """
    url, request_id = wired.gate.passed(body.url), getattr(request.state, "request_id", None)
    made = wired.media.submit(url, caller.actor, wired.now(), collection=body.collection, request_id=request_id)
    return _taken(made.media, duplicate=made.duplicate, enqueued=made.enqueued)


@router.get(
    "/{media_id:uuid}",
    operation_id="get_media",
    responses={200: _RECORD, **answers(404)},
    dependencies=[Depends(needs("read"))],
)
def get_media(media_id: MediaId, wired: Wired) -> Response:
    """The record of a page, with its text once it is read. A `duplicate` has the article of `duplicate_of`."""
    return JSONResponse({"data": wired.media.get(str(media_id))})


@router.post(
    "/{media_id:uuid}/retry",
    status_code=202,
    operation_id="retry_media",
    responses={202: _TAKEN_ANSWER, **answers(404, 409)},
    dependencies=[Depends(needs("write"))],
)
def retry_media(media_id: MediaId, wired: Wired) -> Response:
    """Starts another round of attempts for a failed or waiting page; 409 in any other state."""
    return _taken(wired.media.retry(str(media_id), wired.now()), duplicate=False, enqueued=True)


def _taken(media: Media, *, duplicate: bool, enqueued: bool) -> Response:
    data = {
        "media_id": media.media_id,
        "duplicate": duplicate,
        "processing_status": media.processing_status,
        "ingest_enqueued": enqueued,
    }
    return JSONResponse({"data": data}, 202)
