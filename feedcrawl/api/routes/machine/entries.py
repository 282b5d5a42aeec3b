"""Entries of all feeds: those since a time, and one by its uid."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import JSONResponse, Response

from feedcrawl.api import problems, schemas
from feedcrawl.api.access import needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.limits.places import HEAVY
from feedcrawl.api.paging import Cursor, Limit, Moment, place_of, shown
from feedcrawl.api.routes.machine.feeds import ENTRIES, ENTRY
from feedcrawl.services.subscriptions import stored_entries

router = APIRouter(prefix="/entries", tags=["entries"], dependencies=[Depends(needs("read")), HEAVY])

DEFAULT_AGE = timedelta(days=1)
_CHOICE = schemas.component(
    "EntryChoices", schemas.fields(entry_uid={"type": "string"}, choices={"type": "array", "items": ENTRY})
)


@router.get("", operation_id="list_entries", responses={200: ENTRIES})
def list_entries(
    request: Request,
    wired: Wired,
    *,
    since: Annotated[
        Moment | None, Query(description="entries that arrived at this time (RFC 3339) or later; default: a day ago")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Response:
    """Entries of all feeds in order of arrival, with each version of an entry again, from this machine's disk.

    A page may have fewer than `limit`, or none, without being the last: continue while `next` is given. To follow the
    entries of all machines read `/events`.
    """
    moment = wired.now() - DEFAULT_AGE if since is None else since
    found, following = stored_entries.page(wired.entry_lines, moment, after=place_of(cursor), limit=limit)
    return shown(request, {"entries": wired.files.completed(found)}, following)


@router.get(
    "/{entry_uid:path}",
    operation_id="get_entry",
    responses={
        200: schemas.answer("The entry", ENTRY),
        300: schemas.answer("Several feeds have an entry of this uid: name one as `feed_id`", _CHOICE),
        **problems.answers(404),
    },
)
def get_entry(
    entry_uid: Annotated[str, Path(min_length=1, max_length=512, examples=["urn:uuid:60a76c80"])],
    wired: Wired,
    *,
    feed_id: Annotated[UUID | None, Query(description="id of the feed: finds an entry of any age")] = None,
) -> Response:
    """The last version of an entry on this machine's disk. Two feeds may each have an entry with the same uid."""
    feed = None if feed_id is None else str(feed_id)
    found = wired.files.completed(stored_entries.find(wired.entry_lines, wired.entries, entry_uid, feed))
    if len(found) == 1:
        return JSONResponse(found[0])
    return JSONResponse({"entry_uid": entry_uid, "choices": found}, 300)
