"""The stream of events over HTTP: a page as NDJSON, or all events as they come, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from feedcrawl.api.access import Caller, Reader, caller_of
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.limits.places import Places
from feedcrawl.domain.errors import Refusal
from feedcrawl.services.operations import events
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


router = APIRouter(tags=["events"])

LOOK_SEC = 1.0
"""Seconds between two reads of new events."""
ALIVE_SEC = 15.0
"""Longest silence in seconds: then a line is sent, so that proxies and clients know that the connection lives."""
BATCH = 100
MAX_STREAMS, MAX_STREAMS_OF_ONE = 100, 50
"""Open streams of all callers and of one: each reads the store every second."""
SSE = "text/event-stream"
NDJSON = "application/x-ndjson"
_TEXT = {"schema": {"type": "string", "description": "One record of docs/data-format.md per line"}}


@router.get(
    "/events",
    operation_id="read_events",
    response_class=Response,
    responses={200: {"description": "Events", "content": {NDJSON: _TEXT, SSE: _TEXT}}},
)
async def read_events(
    request: Request,
    wired: Wired,
    caller: Reader,
    *,
    after: Annotated[
        str, Query(description="cursor of the last event read; 0: from the oldest event; now: only later events")
    ] = "0",
    limit: Annotated[int, Query(description=f"at most so many, up to {events.MAX_EVENTS}; NDJSON alone")] = BATCH,
    types: Annotated[str, Query(description="types of events to return, comma separated; default: all")] = "",
    accept: Annotated[str, Header()] = NDJSON,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Events in order. The next page is after the cursor in `X-Cursor`; a page may be empty without being the last.

    With `Accept: text/event-stream` the response has no end; a client that reconnects sends `Last-Event-ID`.
    """
    names = [each for each in types.split(",") if each]
    if SSE not in accept:
        page = await run_in_threadpool(events.read, wired.events, after, limit, names)
        lines = "".join(f"{_json(each)}\n" for each in page.events)
        return Response(lines.encode("utf-8", "replace"), media_type=NDJSON, headers={"X-Cursor": page.cursor})
    page = await run_in_threadpool(events.read, wired.events, last_event_id or after, BATCH, names)
    read = partial(events.read, wired.events, limit=BATCH, types=names)
    check = partial(caller_of, request, wired.tokens, wired.config.api_host)
    return _Stream(_follow(page, read, check), request, caller)


class _Stream(StreamingResponse):
    """A stream that has a place while it is open; RetryLater (`too_many_streams`) instead of its first byte."""

    def __init__(self, pieces: AsyncIterator[bytes], request: Request, caller: Caller) -> None:
        super().__init__(pieces, media_type=SSE, headers={"Cache-Control": "no-store"})
        self._places: Places = request.app.state.streams
        self._caller = caller.token_id or caller.actor

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._places.taken(self._caller):
            await super().__call__(scope, receive, send)


async def _follow(
    page: events.Page, read: Callable[[str], events.Page], check: Callable[[], Caller]
) -> AsyncIterator[bytes]:
    """This page, and each that comes after it, until `check` refuses the token."""
    silent_sec = ALIVE_SEC
    while True:
        for each in page.events:
            # An event of another program may have any text as its type.
            kind = each["type"] if each["type"] in events.TYPES else "message"
            yield f"id: {each['cursor']}\nevent: {kind}\ndata: {_json(each)}\n\n".encode("utf-8", "replace")
        silent_sec = 0.0 if page.events else silent_sec + LOOK_SEC
        if silent_sec >= ALIVE_SEC:
            yield b": alive\n\n"
            silent_sec = 0.0
        if len(page.events) < BATCH:
            await asyncio.sleep(LOOK_SEC)
        try:
            await run_in_threadpool(check)
            page = await run_in_threadpool(read, page.cursor)
        except Refusal:
            return
        except StoreUnavailable:
            page = events.Page((), page.cursor)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
