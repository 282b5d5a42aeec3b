"""Liveness of the process, and readiness for its work."""

from __future__ import annotations

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from feedcrawl.api import problems, schemas
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.problems import problem
from feedcrawl.services.operations.readiness import Readiness
from feedcrawl.store.redis.client import Client

router = APIRouter(tags=["health"])
_THREADS = CapacityLimiter(4)
"""Threads that no other route can take."""


_HEALTH = schemas.component("Health", schemas.fields(status={"type": "string", "enum": ["ok", "ready"]}))


@router.get("/healthz", operation_id="healthz", responses={200: schemas.answer("The process lives", _HEALTH)})
async def healthz() -> Response:
    """The process lives."""
    return JSONResponse({"status": "ok"})


@router.get(
    "/readyz",
    operation_id="readyz",
    responses={200: schemas.answer("Ready", _HEALTH), 503: problems.documented(503)[503]},
)
async def readyz(wired: Wired) -> Response:
    """The store answers and still has this data directory's data; 503 with the reason otherwise."""
    return await to_thread.run_sync(_readiness, wired.client, wired.readiness, limiter=_THREADS)


def _readiness(client: Client, readiness: Readiness) -> Response:
    client.ping()
    readiness.check()
    readiness.same_server()
    trouble = readiness.trouble
    return JSONResponse({"status": "ready"}) if trouble is None else problem(trouble.code, trouble.detail, 503)
