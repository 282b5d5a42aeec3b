"""The application: its routes, and what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI

from feedcrawl import __version__
from feedcrawl.api import problems
from feedcrawl.api.etags import ETags
from feedcrawl.api.idempotency import Idempotency
from feedcrawl.api.limits import Limits, Rates
from feedcrawl.api.requests import Heads, Requests
from feedcrawl.api.routes.dashboard import login, reference, views
from feedcrawl.api.routes.machine import (
    articles,
    collections,
    dlq,
    entries,
    events,
    feeds,
    frontier,
    health,
    media,
    metrics,
    opml,
    raw,
    sources,
    websub,
)

if TYPE_CHECKING:
    from feedcrawl.wiring import Wiring

OPEN = (health.router, websub.router)
"""Asked by supervisors and hubs, which have no token."""
ROUTERS = (
    *(feeds.router, entries.router, articles.router, media.router, collections.router, raw.router, events.router),
    *(sources.router, frontier.router, dlq.router, opml.router, metrics.router),
)
"""Each of their routes asks for a scope (`access.needs`)."""
PAGES = (views.router, login.router, reference.router)
"""For people; they answer errors with pages."""
TAGS = {
    "feeds": "Who is polled, how it fares, and why it is polled when it is",
    "entries": "What the feeds have said",
    "articles": "What was read on the pages that they name",
    "media": "Pages that callers want, by their URL",
    "collections": "The articles of a caller",
    "events": "What happens, in order",
    "raw": "What servers have sent, byte for byte",
    "sources": "Sites with settings of their own",
    "frontier": "What lies ahead",
    "dead letters": "What was given up",
    "opml": "Subscriptions as a list",
    "health": "Whether it lives and can work, in figures",
    "push": "Callbacks of hubs (WebSub)",
}
LAYERS = (Heads, Requests, ETags, Limits, Idempotency)
"""What a request passes before its route, the outermost first."""


def create_app(wired: Wiring) -> FastAPI:
    """The API on the stores of this process; whoever made them closes them."""
    app = FastAPI(
        title="feedcrawl",
        version=__version__,
        openapi_tags=[{"name": name, "description": text} for name, text in TAGS.items()],
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.wired = wired
    app.state.streams = 0
    app.state.rates = Rates(wired.config.api_rate, wired.config.api_write_rate)
    for layer in reversed(LAYERS):
        app.add_middleware(layer)
    problems.install(app)
    for router in OPEN:
        app.include_router(router)
    for router in ROUTERS:
        app.include_router(router, responses=problems.answers())
    for router in PAGES:
        app.include_router(router)
    return app
