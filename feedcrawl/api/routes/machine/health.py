"""Whether the process lives, and whether it can do its work."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from feedcrawl.api.dependencies import Wired
from feedcrawl.api.problems import problem

router = APIRouter(tags=["health"])


@router.get("/healthz", operation_id="healthz")
async def healthz() -> dict[str, str]:
    """The process lives."""
    return {"status": "ok"}


@router.get("/readyz", operation_id="readyz")
def readyz(wired: Wired) -> Response:
    """The store answers and is the one that it was; 503 with the reason if not."""
    wired.client.ping()
    wired.readiness.look()
    wired.readiness.same_server()
    trouble = wired.readiness.trouble
    return JSONResponse({"status": "ready"}) if trouble is None else problem(trouble.code, trouble.detail, 503)
