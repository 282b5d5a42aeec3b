"""Dead letters: URLs that were given up, to list, try again, or drop."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from feedcrawl.api import schemas
from feedcrawl.api.access import needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.limits.places import HEAVY
from feedcrawl.api.paging import Cursor, place_of, shown
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.dead_letters import DeadLetter, DeadLetterFilter, age_sec
from feedcrawl.domain.frontier.records import DeadLetterRecord
from feedcrawl.domain.urls import MAX_URL_LENGTH
from feedcrawl.services.operations import dead_letters

router = APIRouter(prefix="/dlq", tags=["dead letters"], dependencies=[Depends(needs("read"))])

WRITES = [Depends(needs("write")), HEAVY]
Reason = Annotated[str | None, Query(max_length=100, description="reason code: http_404, total_timeout, …")]
Age = Annotated[
    str | None, Query(pattern=r"^[0-9]{1,6}(\.[0-9]{1,6})?[smhd]$", description="an age: 90s, 15m, 12h, 7d")
]
_LETTER = schemas.component("DeadLetter", schemas.published(DeadLetterRecord))
_PAGE = schemas.component(
    "DeadLetterPage",
    schemas.fields(
        letters={"type": "array", "items": _LETTER},
        count={"type": "integer", "description": "Number of all dead letters"},
        next={"type": ["string", "null"], "description": "`cursor` of the next page; null on the last"},
    ),
)
_REPLAYED = schemas.component("Replayed", schemas.fields(replayed={"type": "integer"}, refused={"type": "integer"}))
_DROPPED = schemas.component("Dropped", schemas.fields(dropped={"type": "integer"}))


class Which(BaseModel):
    """A selection of dead letters: all given conditions must hold. `all` permits a selection without conditions."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"reason": "http_503", "newer_than": "12h"}]}
    )

    reason: str | None = Field(None, max_length=100)
    host: str | None = Field(None, max_length=253)
    older_than: str | None = Field(None, max_length=20, description="an age: 90s, 15m, 12h, 7d")
    newer_than: str | None = Field(None, max_length=20)
    names: list[Annotated[str, Field(max_length=MAX_URL_LENGTH)]] = Field(
        [], max_length=1000, description="URLs or uids"
    )
    all: bool = False
    limit: int = Field(dead_letters.NO_LIMIT, ge=1, description="number of dead letters at most, oldest first")

    def conditions(self, now: float) -> DeadLetterFilter:
        """The conditions; Refusal (`say_which` `bad_age`)."""
        found = _conditions(now, self.reason, self.host, self.older_than, self.newer_than)
        found = DeadLetterFilter(found.reason, found.host, found.before, found.after, frozenset(self.names))
        if found == DeadLetterFilter() and not self.all:
            raise Refusal("say_which", 'give a condition, or {"all": true} for all dead letters')
        return found


@router.get(
    "", operation_id="list_dead_letters", dependencies=[HEAVY], responses={200: schemas.answer("DeadLetterPage", _PAGE)}
)
def list_dead_letters(
    request: Request,
    wired: Wired,
    *,
    reason: Reason = None,
    host: Annotated[str | None, Query(max_length=253)] = None,
    older_than: Age = None,
    newer_than: Age = None,
    cursor: Cursor = None,
) -> Response:
    """Dead letters, the last first, up to 50; continue while `next` is given."""
    conditions, place = _conditions(wired.now().timestamp(), reason, host, older_than, newer_than), place_of(cursor)
    if place is not None and not 0 <= place[0] < float(2**53):
        raise Refusal("bad_cursor", "cursor must be the `next` of a page, unchanged")
    found = wired.dashboard.dead_letter_page(conditions, None if place is None else int(place[0]))
    after = (float(found.before), "") if found.before else None
    return shown(request, {"letters": list(map(_public, found.dead_letters)), "count": found.count}, after)


@router.post(
    "/replay",
    operation_id="replay_dead_letters",
    dependencies=WRITES,
    responses={
        200: schemas.answer("Number of dead letters that are tried again, and of those that cannot be", _REPLAYED)
    },
)
def replay_dead_letters(body: Which, wired: Wired) -> Response:
    """Tries dead letters again, with the payload of their tasks."""
    came = wired.dead_letter_service.replay(body.conditions(wired.now().timestamp()), body.limit)
    return JSONResponse({"replayed": came.replayed, "refused": came.refused})


@router.post(
    "/drop",
    operation_id="drop_dead_letters",
    dependencies=WRITES,
    responses={200: schemas.answer("Number of dropped dead letters", _DROPPED)},
)
def drop_dead_letters(body: Which, wired: Wired) -> Response:
    """Deletes dead letters."""
    return JSONResponse(
        {"dropped": wired.dead_letter_service.drop(body.conditions(wired.now().timestamp()), body.limit)}
    )


def _conditions(
    now: float, reason: str | None, host: str | None, older: str | None, newer: str | None
) -> DeadLetterFilter:
    before = now - age_sec(older) if older else None
    return DeadLetterFilter(
        reason or None, host.lower() if host else None, before, now - age_sec(newer) if newer else None
    )


def _public(dead_letter: DeadLetter) -> dict[str, object]:
    """The fields of a dead letter; as text if it is not a JSON object."""
    return dict(dead_letter.fields) or {"item": dead_letter.text}
