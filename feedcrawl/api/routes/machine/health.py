"""Whether the process lives, and whether it can do its work."""

from __future__ import annotations

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from feedcrawl.api.dependencies import Wired
from feedcrawl.api.problems import problem
from feedcrawl.wiring import Wiring

router = APIRouter(tags=["health"])
_THREADS = CapacityLimiter(4)
"""Threads that no other route can take."""


@router.get("/healthz", operation_id="healthz")
async def healthz() -> dict[str, str]:
    """The process lives."""
    return {"status": "ok"}


@router.get("/readyz", operation_id="readyz")
async def readyz(wired: Wired) -> Response:
    """The store answers and is the one that it was; 503 with the reason if not."""
    return await to_thread.run_sync(_readiness, wired, limiter=_THREADS)


def _readiness(wired: Wiring) -> Response:
    wired.client.ping()
    wired.readiness.look()
    wired.readiness.same_server()
    trouble = wired.readiness.trouble
    return JSONResponse({"status": "ready"}) if trouble is None else problem(trouble.code, trouble.detail, 503)
