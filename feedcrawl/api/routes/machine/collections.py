"""The caller's collections: create, fill, delete; read as a list, as Atom and as JSON Feed. Others' are not
visible.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from feedcrawl.api import schemas
from feedcrawl.api.access import Reader, Writer, needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.limits.places import HEAVY
from feedcrawl.api.outfeeds import Form, outfeed
from feedcrawl.api.paging import Cursor, Limit, place_of, shown
from feedcrawl.api.problems import answers
from feedcrawl.api.routes.machine.articles import FEED_DOCUMENT, OUTLINED, Uid
from feedcrawl.domain.articles.page_records import MediaRecord
from feedcrawl.domain.dates import rfc3339
from feedcrawl.services.articles.collections import NAME

if TYPE_CHECKING:
    from feedcrawl.services.articles.collections import Member

router = APIRouter(prefix="/collections", tags=["collections"])

Name = Annotated[str, Path(pattern=f"^{NAME.pattern}$", description="name of a collection", examples=["default"])]
_COLLECTION = schemas.component(
    "Collection",
    schemas.fields(
        name={"type": "string"},
        articles={"type": "integer", "minimum": 0, "description": "Number of articles"},
        created_at={
            "type": ["string", "null"],
            "format": "date-time",
            "description": "null for the default collection",
        },
    ),
)
_ALL = schemas.answer(
    "Collections",
    schemas.component("Collections", schemas.fields(collections={"type": "array", "items": _COLLECTION})),
)
_SHOWN_OF_MEDIA = ("media_id", "uid", "requested_url", "processing_status")
_MEMBER = schemas.component(
    "CollectedArticle",
    schemas.fields(
        **schemas.only(MediaRecord, _SHOWN_OF_MEDIA)["properties"],
        held_since={"type": "string", "format": "date-time"},
        article={"oneOf": [OUTLINED, {"type": "null"}], "description": "Without its text; null until the page is read"},
    ),
)
_PAGE = schemas.answer(
    "The members of the collection", schemas.component("CollectedPage", schemas.page_of("held", _MEMBER))
)


class NewCollection(BaseModel):
    """A collection to create."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [{"name": "later"}]})

    name: str = Field(pattern=f"^{NAME.pattern}$")


@router.get("", operation_id="list_collections", responses={200: _ALL})
def list_collections(wired: Wired, caller: Reader) -> Response:
    """The caller's collections. Each caller has a collection `default`."""
    return JSONResponse({"collections": wired.collection_service.all(caller.actor)})


@router.post(
    "",
    status_code=201,
    operation_id="make_collection",
    responses={201: schemas.answer("Made", _COLLECTION), **answers(409)},
)
def make_collection(body: NewCollection, wired: Wired, caller: Writer) -> Response:
    """Creates a collection; 409 if the caller has one of this name."""
    made = wired.collection_service.make(caller.actor, body.name, wired.now())
    return JSONResponse(made, 201, {"Location": f"{router.prefix}/{body.name}"})


@router.delete("/{name}", status_code=204, operation_id="drop_collection", responses=answers(404, 409))
def drop_collection(name: Name, wired: Wired, caller: Writer) -> None:
    """Deletes a collection. Articles in no other collection are kept for their remaining lifetime."""
    wired.collection_service.drop(caller.actor, name)


@router.put("/{name}/articles/{uid}", status_code=204, operation_id="hold_article", responses=answers(404))
def hold_article(name: Name, uid: Uid, wired: Wired, caller: Writer) -> None:
    """Puts a stored article into a collection. For a page that is not stored yet use `POST /media/from_url`."""
    wired.media.hold(uid, caller.actor, name, wired.now())
    wired.publisher.collection_changed(name)


@router.delete("/{name}/articles/{uid}", status_code=204, operation_id="let_article_go", responses=answers(404))
def let_article_go(name: Name, uid: Uid, wired: Wired, caller: Writer) -> None:
    """Removes an article, or a page that is not read yet, from a collection."""
    wired.collection_service.take_out(caller.actor, name, uid)
    wired.publisher.collection_changed(name)


@router.get(
    "/{name}.{form:outfeed}",
    operation_id="collection_as_feed",
    response_class=Response,
    dependencies=[Depends(needs("read")), HEAVY],
    responses={200: FEED_DOCUMENT, **answers(404)},
)
def collection_as_feed(
    name: Name, form: Form, request: Request, wired: Wired, caller: Reader, *, cursor: Cursor = None, limit: Limit = 50
) -> Response:
    """A collection as an Atom feed or JSON Feed with whole articles, the last added first. Pages that are not read yet
    are left out.
    """
    page = wired.collection_service.page(caller.actor, name, before=place_of(cursor), limit=limit, html=True)
    found = [each.article for each in page.members if each.article is not None]
    return outfeed(request, wired.config, (name, f"#{request.state.actor}"), found, page.next, form=form)


@router.get("/{name}", operation_id="get_collection", responses={200: _PAGE, **answers(404)})
def get_collection(
    name: Name, request: Request, wired: Wired, caller: Reader, *, cursor: Cursor = None, limit: Limit = 50
) -> Response:
    """The contents of a collection, read or not, the last added first; articles without their text."""
    page = wired.collection_service.page(caller.actor, name, before=place_of(cursor), limit=limit)
    return shown(request, {"held": list(map(_member_record, page.members))}, page.next)


def _member_record(member: Member) -> dict[str, object]:
    record = {name: getattr(member.media, name) for name in _SHOWN_OF_MEDIA}
    return {**record, "held_since": rfc3339(datetime.fromtimestamp(member.since, UTC)), "article": member.article}
