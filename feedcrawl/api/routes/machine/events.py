"""The stream of events over HTTP: a page of it as NDJSON, or all that comes, as it comes, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response, StreamingResponse

from feedcrawl.api.access import caller_of, needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.problems import RETRY_SEC, ComeAgain
from feedcrawl.domain.errors import Refusal
from feedcrawl.services.operations import events
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.datastructures import State

    from feedcrawl.wiring import Wiring

router = APIRouter(tags=["events"], dependencies=[Depends(needs("read"))])

LOOK_SEC = 1.0
"""Between two looks for what is new."""
ALIVE_SEC = 15.0
"""A line goes out at least so often, so that proxies and clients know that the connection lives."""
BATCH = 100
MAX_STREAMS = 100
"""Open at a time: each looks at the store every second."""
SSE = "text/event-stream"
NDJSON = "application/x-ndjson"


@router.get(
    "/events",
    operation_id="read_events",
    response_class=Response,
    responses={200: {"description": "Events", "content": {NDJSON: {}, SSE: {}}}},
)
async def read_events(
    request: Request,
    wired: Wired,
    *,
    after: Annotated[str, Query(description="cursor of the last event seen; 0 = from the oldest, now = none")] = "0",
    limit: Annotated[int, Query(description=f"at most so many, up to {events.MAX_EVENTS}; NDJSON alone")] = BATCH,
    types: Annotated[str, Query(description="only these, comma separated")] = "",
    accept: Annotated[str, Header()] = NDJSON,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """What happened, in order. The next page is after the cursor in `X-Cursor`; it may be empty and yet not the last.

    With `Accept: text/event-stream` the answer goes on for ever; a client that reconnects sends `Last-Event-ID`.
    """
    wanted = [each for each in types.split(",") if each]
    if SSE not in accept:
        page = await run_in_threadpool(events.read, wired.events, after, limit, wanted)
        lines = "".join(f"{_json(each)}\n" for each in page.events)
        return Response(lines.encode("utf-8", "replace"), media_type=NDJSON, headers={"X-Cursor": page.cursor})
    if request.app.state.streams >= MAX_STREAMS:
        raise ComeAgain("too_many_streams", f"{MAX_STREAMS} streams are open: read pages instead", RETRY_SEC)
    page = await run_in_threadpool(events.read, wired.events, last_event_id or after, BATCH, wanted)
    following = _counted(request.app.state, _follow(request, wired, page, wanted))
    return StreamingResponse(following, media_type=SSE, headers={"Cache-Control": "no-store"})


async def _counted(state: State, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    state.streams += 1
    try:
        async for piece in stream:
            yield piece
    finally:
        state.streams -= 1


async def _follow(request: Request, wired: Wiring, page: events.Page, types: list[str]) -> AsyncIterator[bytes]:
    """This page, and each that comes after it, until the token is revoked."""
    silent_sec = ALIVE_SEC
    while True:
        for each in page.events:
            kind = each["type"] if each["type"] in events.TYPES else "message"  # another program's may be any text
            yield f"id: {each['cursor']}\nevent: {kind}\ndata: {_json(each)}\n\n".encode("utf-8", "replace")
        silent_sec = 0.0 if page.events else silent_sec + LOOK_SEC
        if silent_sec >= ALIVE_SEC:
            yield b": alive\n\n"
            silent_sec = 0.0
        if len(page.events) < BATCH:
            await asyncio.sleep(LOOK_SEC)
        try:
            await run_in_threadpool(caller_of, request, wired)
            page = await run_in_threadpool(events.read, wired.events, page.cursor, BATCH, types)
        except Refusal:
            return
        except StoreUnavailable:
            page = events.Page((), page.cursor)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
