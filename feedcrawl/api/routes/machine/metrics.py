"""Metrics for Prometheus: the statistics of the whole fleet, from Redis."""

from __future__ import annotations

from fastapi import APIRouter, Depends
from fastapi.responses import Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from feedcrawl.api import schemas
from feedcrawl.api.access import needs_unless_open
from feedcrawl.api.dependencies import Wired
from feedcrawl.api.limits.places import HEAVY
from feedcrawl.services.operations.fleet import Fleet
from feedcrawl.telemetry.metrics import describe_process

router = APIRouter(tags=["health"])


@router.get(
    "/metrics",
    operation_id="metrics",
    response_class=Response,
    dependencies=[Depends(needs_unless_open("api_open_metrics")), HEAVY],
    responses={200: schemas.document("Text format of Prometheus", CONTENT_TYPE_LATEST)},
)
def metrics(wired: Wired) -> Response:
    """Metrics of the whole fleet, the same at each process, and the API's own `build_info` and `process_*`. A worker's
    own metrics are at its FEEDCRAWL_METRICS_PORT.
    """
    registry = CollectorRegistry()
    registry.register(Fleet(wired.fleet_stores))
    describe_process(registry)
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
