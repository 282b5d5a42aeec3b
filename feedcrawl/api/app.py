"""The application: its routes and their shared layers."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI

from feedcrawl import __version__
from feedcrawl.api import openapi, problems
from feedcrawl.api.etags import ETags
from feedcrawl.api.idempotency import Idempotency
from feedcrawl.api.jobs import Jobs
from feedcrawl.api.limits.bodies import Bodies
from feedcrawl.api.limits.layer import Limits
from feedcrawl.api.limits.places import Heavy, Places
from feedcrawl.api.limits.rates import Rates
from feedcrawl.api.limits.sites import Sites
from feedcrawl.api.pages.route import error_page
from feedcrawl.api.requests import Heads, Requests
from feedcrawl.api.routes.dashboard import articles as article_pages
from feedcrawl.api.routes.dashboard import dead_letters, login, overview, reference
from feedcrawl.api.routes.dashboard import feeds as feed_pages
from feedcrawl.api.routes.dashboard import frontier as frontier_pages
from feedcrawl.api.routes.dashboard import sitemaps as sitemap_pages
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
    sitemaps,
    sources,
    websub,
)
from feedcrawl.services.operations.consumer import log_failure
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from feedcrawl.api.schemas import Spec
    from feedcrawl.services.operations.consumer import Consumer
    from feedcrawl.wiring import Wiring

OPEN = (health.router, websub.router, websub.clouds)
"""For supervisors and hubs, which have no token."""
ROUTERS = (
    *(feeds.router, entries.router, articles.router, articles.published, media.router, collections.router),
    *(raw.router, events.router, sitemaps.router, sources.router, frontier.router, dlq.router, opml.router),
    metrics.router,
)
"""Each of these routes requires a scope (`access.needs`)."""
PAGES = (
    *(overview.router, feed_pages.router, sitemap_pages.router, article_pages.router, frontier_pages.router),
    *(dead_letters.router, login.router, reference.router),
)
"""Routes for people; their errors are HTML pages."""
TAGS = {
    "feeds": "Subscribed feeds: settings, statistics, and the reasons of their polls",
    "sitemaps": "Watched sitemaps: settings, and the reasons of their polls",
    "entries": "Entries of the feeds",
    "articles": "Articles extracted from pages",
    "media": "Pages that callers request by URL, and the states of these requests",
    "collections": "Collections of articles, one set for each caller",
    "published feeds": "Stored articles as Atom and JSON Feed",
    "events": "The stream of events, in order",
    "raw": "Requests and responses as received, byte for byte",
    "sources": "Sites with settings of their own",
    "frontier": "Queued tasks, hosts and their pace",
    "dead letters": "URLs that were given up",
    "opml": "Subscriptions as a list",
    "health": "Liveness, readiness and metrics",
    "push": "Callbacks of hubs (WebSub, rssCloud)",
}
LAYERS = (Heads, Requests, Sites, ETags, Limits, Idempotency)
"""The layers that a request passes before its route, the outermost first."""


THREADS: Final = 8
"""Threads for routes that wait for the store: more threads would compete with the event loop for the interpreter."""


@asynccontextmanager
async def _serving(app: FastAPI) -> AsyncIterator[None]:
    """Brings the sources into the frontier, limits the number of threads and keeps the search index while the app is
    served, and ends its jobs afterwards.
    """
    current_default_thread_limiter().total_tokens = THREADS
    wired: Wiring = app.state.wired
    with suppress(StoreUnavailable):  # the crawls bring them too
        await wired.source_book.sync(wired.source_stores)
    async with _indexing(wired.indexer()):
        yield
    await app.state.jobs.end()


@asynccontextmanager
async def _indexing(consumer: Consumer | None) -> AsyncIterator[None]:
    """Keeps the search index, in threads beside the event loop, unless another process of the data directory does."""
    stop = asyncio.Event()
    running = [asyncio.ensure_future(consumer.run(stop))] if consumer else []
    for each in running:
        each.add_done_callback(log_failure)
    try:
        yield
    finally:
        stop.set()
        await asyncio.gather(*running, return_exceptions=True)


class Api(FastAPI):
    """The framework's application with the OpenAPI document of this project."""

    def openapi(self) -> Spec:
        """The document, made once."""
        if self.openapi_schema is None:
            self.openapi_schema = openapi.completed(super().openapi())
        return self.openapi_schema


def create_app(wired: Wiring) -> FastAPI:
    """The API on the stores of this process; the caller of this function closes the stores."""
    app = Api(
        title="feedcrawl",
        version=__version__,
        openapi_tags=[{"name": name, "description": text} for name, text in TAGS.items()],
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_serving,
    )
    app.state.wired = wired
    app.state.rates = Rates(wired.config.api_rate, wired.config.api_write_rate)
    app.state.bodies = Bodies(wired.config.api_max_upload_bytes)
    app.state.streams = Places(events.MAX_STREAMS, events.MAX_STREAMS_OF_ONE, "too_many_streams", "streams may be open")
    app.state.heavy = Heavy()
    app.state.jobs = Jobs(app.state.heavy)
    for layer in reversed(LAYERS):
        app.add_middleware(layer)
    problems.install(app, error_page)
    for router in OPEN:
        app.include_router(router)
    for router in ROUTERS:
        app.include_router(router, responses=problems.answers())
    for router in PAGES:
        app.include_router(router)
    return app
