"""The application: its routes, and what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI

from feedcrawl import __version__
from feedcrawl.api import problems
from feedcrawl.api.routes import articles, collections, events, health, media, websub

if TYPE_CHECKING:
    from feedcrawl.wiring import Wiring

ROUTERS = (health.router, websub.router)
LOCAL_ROUTERS = (events.router, articles.router, media.router, collections.router)
"""Of what is kept here, for whoever is on this machine: served where the API listens on loopback alone."""
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def create_app(wired: Wiring) -> FastAPI:
    """The API on the stores of this process; whoever made them closes them."""
    app = FastAPI(title="feedcrawl", version=__version__, redoc_url=None)
    app.state.wired = wired
    problems.install(app)
    local = LOCAL_ROUTERS if wired.config.api_host in LOOPBACK else ()
    for router in (*ROUTERS, *local):
        app.include_router(router)
    return app
