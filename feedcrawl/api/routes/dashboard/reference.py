"""The OpenAPI document as a page for people.

The page has no external scripts: they would run where browsers keep the dashboard's cookie.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from feedcrawl.api.dependencies import Wired
from feedcrawl.api.pages import reference, templates
from feedcrawl.api.pages.route import PageRoute, context
from feedcrawl.api.queries import known_parameters

router = APIRouter(include_in_schema=False, route_class=PageRoute, dependencies=[Depends(known_parameters)])


@router.get("/docs")
def show_reference(request: Request, wired: Wired) -> Response:
    """All routes by topic, and the records that they take and return; programs read `/openapi.json`."""
    values = context(request, wired.now(), None, "/docs") | reference.shown(request.app.openapi())
    return templates.render("reference.html", values)
