"""Pages of a list: the cursor of a request, and the cursor of the next page."""

from __future__ import annotations

import base64
import json
import math
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Query
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, BeforeValidator

from feedcrawl.domain.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import Request
    from fastapi.responses import Response

Place = tuple[float, str]
"""Score and name of the last item of a page."""
MAX_LIMIT: Final = 200
_RFC3339: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ].*)?")


def _as_text(value: object) -> object:
    """Refuses a time that is not text: a bare number may be seconds or milliseconds."""
    if isinstance(value, str) and not _RFC3339.fullmatch(value):
        raise ValueError("a time must have the form 2026-11-28T12:00:00Z")
    return value


def _in_utc(moment: datetime) -> datetime:
    """OverflowError is no ValueError: the first and the last day have no UTC in every zone."""
    try:
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError:
        raise ValueError("a time must be between the years 1 and 9999 in UTC") from None


Moment = Annotated[datetime, BeforeValidator(_as_text), AfterValidator(_in_utc)]
"""A time in UTC; a time without a zone is taken as UTC."""
Cursor = Annotated[str | None, Query(max_length=200, description="`next` of the page before")]
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="items per page at most")]


def cursor_of(place: Place) -> str:
    """The cursor of a place."""
    return base64.urlsafe_b64encode(json.dumps(place, separators=(",", ":")).encode()).decode().rstrip("=")


def place_of(cursor: str | None) -> Place | None:
    """The place of a cursor; Refusal (`bad_cursor`) for text that `cursor_of` did not return."""
    if cursor is None:
        return None
    try:
        score, name = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True))
        place = float(score), str(name)
        place[1].encode()  # half of a surrogate pair is not text
        if cursor_of(place) != cursor or not math.isfinite(place[0]):
            raise ValueError  # noqa: TRY301 - one answer for whatever is wrong
    except (ValueError, TypeError, RecursionError, OverflowError):
        raise Refusal("bad_cursor", "cursor must be the `next` of a page, unchanged") from None
    return place


def shown(request: Request, content: Mapping[str, object], after: Place | None) -> Response:
    """A page, with the cursor of the next page as `next`, and the next page's address as a link (RFC 8288)."""
    cursor = None if after is None else cursor_of(after)
    headers = {} if cursor is None else {"Link": f'<{address(request, cursor=cursor)}>; rel="next"'}
    return JSONResponse({**content, "next": cursor}, headers=headers)


def address(request: Request, **query: str) -> str:
    """Path and query of a request, escaped, with the given values in place of its own."""
    url = request.url.include_query_params(**query)
    return f"{url.path}?{url.query}" if url.query else url.path
