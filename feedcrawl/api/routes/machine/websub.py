"""Where hubs verify subscriptions and deliver what they push (W3C WebSub sections 5.3 and 7)."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse, Response

from feedcrawl.api.dependencies import Wired
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.push.protocol import Intent
from feedcrawl.services.push.websub import MAX_BYTES

router = APIRouter(prefix="/websub", tags=["push"])

BODY_SEC = 30.0
"""How long a hub may take to deliver."""
NO_SNIFFING = {"X-Content-Type-Options": "nosniff"}


@router.get("/{token}", operation_id="verify_push")
def verify(token: str, request: Request, wired: Wired) -> Response:
    """Echoes the challenge of a subscription that was asked for; 404 for whatever else a hub intends."""
    said = request.query_params
    names = ("mode", "topic", "challenge", "lease_seconds", "reason")
    return PlainTextResponse(
        wired.websub.intent(token, Intent(*(said.get(f"hub.{name}") for name in names))), headers=NO_SNIFFING
    )


@router.post("/{token}", status_code=202, operation_id="deliver_push")
async def deliver(token: str, request: Request, wired: Wired) -> Response:
    """Takes a push: 202 once it is in the store. What is not signed by its hub is answered alike, and ignored."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal("bad_encoding", "send the body as it was signed, without a content encoding")
    body = await _body(request)
    signatures = request.headers.getlist("x-hub-signature")
    declared = request.headers.get("content-type", "")
    await run_in_threadpool(wired.websub.deliver, token, signatures, declared, body)
    return Response(status_code=202)


async def _body(request: Request) -> bytes:
    """The whole body; Refusal for one that is too large, or takes too long to come."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SEC):
            async for piece in request.stream():
                body += piece
                if len(body) > MAX_BYTES:
                    raise Refusal("too_large", f"a push may have {MAX_BYTES} bytes")
    except TimeoutError:
        raise Refusal("too_slow", f"a push must have arrived within {BODY_SEC:g} s") from None
    return bytes(body)
