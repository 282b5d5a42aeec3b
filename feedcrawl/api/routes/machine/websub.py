"""Callbacks at which hubs verify subscriptions and deliver documents (W3C WebSub sections 5.3 and 7; rssCloud)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse, Response

from feedcrawl.api import problems
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.limits.bodies import Bodies
from feedcrawl.api.limits.layer import turned_away
from feedcrawl.api.problems import refused
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.push.protocol import Intent
from feedcrawl.services.push.websub import MAX_BYTES, UNKNOWN_CALLBACK

router = APIRouter(prefix="/websub", tags=["push"])
clouds = APIRouter(prefix="/rsscloud", tags=["push"])
MAX_NOTICE_BYTES = 8_192

_UNKNOWN = problems.documented(404, 429, 503)
NO_SNIFFING = {"X-Content-Type-Options": "nosniff"}


@router.get("/{token}", operation_id="verify_push", response_class=PlainTextResponse, responses=_UNKNOWN)
def verify(token: str, request: Request, wired: Wired) -> Response:
    """Echoes the challenge of a requested subscription; 404 for any other intent of a hub."""
    parameters = request.query_params
    names = ("mode", "topic", "challenge", "lease_seconds", "reason")
    intent = Intent(*(parameters.get(f"hub.{name}") for name in names))
    with _counting_strangers(request):
        return PlainTextResponse(wired.websub.intent(token, intent), headers=NO_SNIFFING)


@router.post(
    "/{token}",
    status_code=202,
    operation_id="deliver_push",
    response_class=Response,
    responses=problems.documented(404, 408, 413, 429, 503),
)
async def deliver(token: str, request: Request, wired: Wired) -> Response:
    """Accepts a delivery: 202 once it is in the store. A delivery without the hub's signature gets the same response
    and is ignored.

    The callback is looked up before the body is read: no body of a stranger is read.
    """
    signatures = request.headers.getlist("x-hub-signature")
    declared = request.headers.get("content-type", "")
    bodies: Bodies = request.app.state.bodies
    try:
        with _counting_strangers(request):
            await run_in_threadpool(wired.websub.check, token)
        async with bodies.read(request, MAX_BYTES) as body:
            await run_in_threadpool(wired.websub.deliver, token, signatures, declared, body)
    except Refusal as error:
        return turned_away(request, refused(error))
    return Response(status_code=202)


@clouds.get("/{token}", operation_id="verify_rsscloud", response_class=PlainTextResponse, responses=_UNKNOWN)
def verify_rsscloud(token: str, request: Request, wired: Wired) -> Response:
    """Echoes the challenge of an rssCloud server that verifies a registration."""
    parameters = request.query_params
    with _counting_strangers(request):
        echo = wired.websub.challenged(token, parameters.get("url"), parameters.get("challenge"))
    return PlainTextResponse(echo, headers=NO_SNIFFING)


@clouds.post(
    "/{token}",
    operation_id="notify_rsscloud",
    response_class=PlainTextResponse,
    responses=problems.documented(404, 408, 413, 429, 503),
)
async def notify_rsscloud(token: str, request: Request, wired: Wired) -> Response:
    """Accepts the notice of an rssCloud server that a feed has changed (form field `url`), and has the feed polled."""
    bodies: Bodies = request.app.state.bodies
    try:
        with _counting_strangers(request):
            await run_in_threadpool(wired.websub.check, token)
        async with bodies.read(request, MAX_NOTICE_BYTES) as body:
            form = dict(parse_qsl(body.decode("latin-1")))
            await run_in_threadpool(wired.websub.notified, token, form.get("url"))
    except Refusal as error:
        return turned_away(request, refused(error))
    return PlainTextResponse("Thanks for the update.", headers=NO_SNIFFING)


@contextmanager
def _counting_strangers(request: Request) -> Iterator[None]:
    """Counts a request to an unknown callback against the rate of its address."""
    try:
        yield
    except Refusal as error:
        if error.code == UNKNOWN_CALLBACK:
            request.app.state.rates.count(request.client.host if request.client else "", request.method)
        raise
