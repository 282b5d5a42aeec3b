"""Pages of things: the cursor that a caller brings, and the one that he takes along."""

from __future__ import annotations

import base64
import json
import math
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import Query
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, BeforeValidator

from feedcrawl.domain.errors import Refusal

if TYPE_CHECKING:
    from fastapi import Request
    from fastapi.responses import Response

Place = tuple[float, str]
"""Score and name of the last of a page."""
MAX_LIMIT: Final = 200
_RFC3339: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ].*)?")


def _as_text(value: Any) -> Any:
    """A moment is text: a bare number may be seconds or milliseconds."""
    if isinstance(value, str) and not _RFC3339.fullmatch(value):
        raise ValueError("a moment is written as 2026-11-28T12:00:00Z")
    return value


def _in_utc(moment: datetime) -> datetime:
    """OverflowError is no ValueError: the first and the last day have no UTC in every zone."""
    try:
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError:
        raise ValueError("a moment lies between the years 1 and 9999 of UTC") from None


Moment = Annotated[datetime, BeforeValidator(_as_text), AfterValidator(_in_utc)]
"""In UTC, which is meant where no zone is named."""
Cursor = Annotated[str | None, Query(max_length=200, description="`next` of the page before")]
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="at most so many")]


def cursor_of(place: Place) -> str:
    """A place as callers see it."""
    return base64.urlsafe_b64encode(json.dumps(place, separators=(",", ":")).encode()).decode().rstrip("=")


def place_of(cursor: str | None) -> Place | None:
    """The place that a cursor stands for; Refusal (`bad_cursor`) for what `cursor_of` has not given."""
    if cursor is None:
        return None
    try:
        score, name = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True))
        place = float(score), str(name)
        place[1].encode()  # half of a surrogate pair is no text
        if cursor_of(place) != cursor or not math.isfinite(place[0]):
            raise ValueError  # noqa: TRY301 - one answer for whatever is wrong
    except (ValueError, TypeError, RecursionError, OverflowError):
        raise Refusal("bad_cursor", "cursor must be the `next` of a page, unchanged") from None
    return place


def shown(request: Request, content: dict[str, Any], after: Place | None) -> Response:
    """A page, with the cursor of the next one as `next`, and its address as a link (RFC 8288)."""
    cursor = None if after is None else cursor_of(after)
    headers = {} if cursor is None else {"Link": f'<{address(request, cursor=cursor)}>; rel="next"'}
    return JSONResponse({**content, "next": cursor}, headers=headers)


def address(request: Request, **query: str) -> str:
    """Path and query of a request, escaped, with other values for these names."""
    url = request.url.include_query_params(**query)
    return f"{url.path}?{url.query}" if url.query else url.path
