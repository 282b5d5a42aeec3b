"""Pages as they are after their scripts have run: scrapy-playwright's handler, with limits on everything.

A browser is started when a page needs it, serves a limited number of pages, and ends when it is idle; at the hard time
limit it is killed with all its children. Every request with `meta["playwright"]` is rendered here, whichever spider
made it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from scrapy.exceptions import IgnoreRequest

from feedcrawl import wiring
from feedcrawl.domain.addresses import denied_ports, parse_networks
from feedcrawl.domain.articles.rendering import may_load
from feedcrawl.outgoing import routes
from feedcrawl.rendering.browser import STOP_SEC, GuardedBrowser, NoBrowser, find_browser, playwright_api, within

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from playwright.async_api import Page, Route
    from playwright.async_api import Request as Loaded
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

HARD_SEC: Final = 10.0
"""Seconds after a page's time limit at which the browser is killed."""
SETTLE_SEC: Final = 5.0
"""The most seconds for which scripts may go on loading after the document has loaded."""
LEAVE_SEC: Final = 4.0
"""Seconds after which a page that leads elsewhere is closed if its document is not there."""
MOVED: Final = "render_moved_to"
"""Key of a request's meta: the other URLs to which a page navigated."""
IDLE_SEC: Final = 60.0
PAGES_OF_A_BROWSER: Final = 100
LOOK_SEC: Final = 0.25
"""Seconds between two checks whether Scrapy is stopping: Scrapy sends no signal when a stop begins."""
BAD_STARTS: Final = 3
"""Failed starts in a row after which the browser counts as missing."""
WAITING: Final = 16
"""The most pages that may wait for the browser; more would hold up the crawl."""


class RenderFailed(IgnoreRequest):
    """A page that could not be rendered. `reason`: `no_browser`, `render_busy`, `render_timeout`, `render_moved`,
    `render_too_large` or `render_failed`.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class _Run:
    """One browser from start to end, and the handler that drives it."""

    def __init__(self, crawler: Crawler, browser: GuardedBrowser, navigation_sec: float) -> None:
        logging.getLogger("scrapy-playwright").setLevel(logging.ERROR)  # failures are logged below, one line each
        self.browser = browser
        self.handler: Any = import_module("scrapy_playwright.handler").ScrapyPlaywrightDownloadHandler(crawler)
        self.handler.browser_provider = browser
        self.handler.process_request_headers = None  # keep the browser's own; the context sets the user agent
        self.handler.config.navigation_timeout_ms = navigation_sec * 1000
        self.handler.config.target_closed_max_retries = 0
        self.handler.config.restart_disconnected_browser = False
        self.open = self.served = 0

    async def page(self, request: Request) -> Response:
        """The page, rendered in a context of its own: state that one page leaves does not reach the next page."""
        name = f"page-{self.served}"
        proxy = self.browser.admit(name, request.url, request.meta[routes.ROUTE_OF])
        context = {**request.meta["playwright_context_kwargs"], "proxy": proxy}
        own = {"playwright_context": name, "playwright_context_kwargs": context}
        rendered = request.replace(meta={**request.meta, **own})
        try:
            return await self.handler.download_request(rendered)  # type: ignore[no-any-return]
        except asyncio.CancelledError:
            self.browser.kill()  # a page that hangs does not close
            raise
        finally:
            self.browser.dismiss(name)
            if name in self.handler.context_wrappers:
                await within(STOP_SEC, self.handler.context_wrappers[name].context.close())

    async def close(self) -> None:
        """End the browser."""
        await self.browser.close()
        self.handler.browser_provider = None  # the handler's own close would wait for a browser that has already ended
        vars(self.handler).pop("browser", None)
        self.handler.context_wrappers.clear()
        await self.handler.close()


class Renderer:
    """Renders the pages of a crawler, a few at a time."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._config = wiring.of(crawler).config
        self._slots = asyncio.Semaphore(self._config.render_pages)
        self._starting = asyncio.Lock()
        self._waiting = 0
        self._run: _Run | None = None
        self._missing: str | None = None
        self._bad_starts = 0
        self._idle: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        assert crawler.stats is not None
        self._stats = crawler.stats

    @property
    def missing(self) -> bool:
        """True if the browser is known to be missing."""
        return self._missing is not None

    async def download(self, request: Request) -> Response:
        """The page after its scripts have run, as a response flagged `playwright`. Raises RenderFailed."""
        if self._waiting >= WAITING:
            raise RenderFailed("render_busy", f"{self._waiting} pages wait for the browser")
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        try:
            return await self._rendered(request)
        except RenderFailed as failure:
            self._stats.inc_value(f"feedcrawl/render/{failure.reason}")
            raise
        finally:
            self._slots.release()

    async def close(self) -> None:
        """End the browser, if one is running."""
        self._retire(self._run)
        await asyncio.gather(*self._ending)

    async def _rendered(self, request: Request) -> Response:
        run = await self._current()
        try:
            return await self._page(run, request)
        except RenderFailed as failure:
            if failure.reason == "render_timeout" or run.browser.usable:
                raise
        return await self._page(await self._current(), request)  # the browser was ended because of another page

    async def _page(self, run: _Run, request: Request) -> Response:
        api, prepared = playwright_api(), self._prepared(request)
        moved: list[str] = prepared.meta[MOVED]
        run.open += 1
        run.served += 1
        try:
            async with asyncio.timeout(self._config.render_timeout_sec + HARD_SEC) as limit:
                drain = asyncio.ensure_future(self._drain(limit))
                try:
                    response = await run.page(prepared)
                finally:
                    drain.cancel()
        except TimeoutError:
            logger.warning("browser_killed", extra={"url": request.url, "pages": run.open})
            raise RenderFailed("render_timeout", "the hard limit was reached") from None
        except (api.Error, RuntimeError) as error:  # scrapy-playwright raises the latter when a page starts a download
            if moved:
                raise RenderFailed("render_moved", moved[-1]) from None
            reason = "render_timeout" if isinstance(error, api.TimeoutError) else "render_failed"
            raise RenderFailed(reason, _first_line(error)) from None
        finally:
            run.open -= 1
            self._after(run)
        if not may_load(response.url, "document", page_url=request.url):
            raise RenderFailed("render_moved", response.url)
        self._stats.inc_value("feedcrawl/render/pages")
        return response

    async def _drain(self, limit: asyncio.Timeout) -> None:
        """Let a stopping crawl wait for its pages as long as for any other request."""
        while self._crawler.engine is None or self._crawler.engine.running:
            await asyncio.sleep(LOOK_SEC)
        ends = asyncio.get_running_loop().time() + self._config.drain_sec
        limit.reschedule(min(limit.when() or ends, ends))

    def _prepared(self, request: Request) -> Request:
        own: dict[str, object] = {
            routes.ROUTE_OF: routes.of(self._crawler).source_of(routes.named(request), request.url),
            "download_maxsize": request.meta.get("download_maxsize") or self._config.max_article_bytes,
            "playwright_context_kwargs": {
                "user_agent": str(self._crawler.settings["USER_AGENT"]),
                "service_workers": "block",
                "accept_downloads": False,
            },
            "playwright_page_goto_kwargs": {"wait_until": "domcontentloaded"},
            "playwright_page_init_callback": _confine,
            MOVED: [],
        }
        return request.replace(meta={**request.meta, **own})

    async def _current(self) -> _Run:
        """The browser in use; a new browser if there is none or if it has served its number of pages. Raises
        RenderFailed if none starts.
        """
        async with self._starting:
            if self._idle is not None:
                self._idle.cancel()
            if self._run is not None and (self._run.served >= PAGES_OF_A_BROWSER or not self._run.browser.usable):
                self._retire(self._run)
            if self._run is None:
                self._run = await self._start()
            return self._run

    async def _start(self) -> _Run:
        if self._missing is not None:
            raise RenderFailed("no_browser", self._missing)
        config = self._config
        browser = GuardedBrowser(
            find_browser(config.browser),
            opened=parse_networks(config.allow_networks),
            denied_ports=denied_ports(config.deny_ports),
            routes=routes.of(self._crawler),
            refused=lambda: self._stats.inc_value("feedcrawl/render/address_refused"),
        )
        try:
            await browser.start()
        except NoBrowser as error:
            self._missing = str(error)
            logger.warning("no_browser", extra={"detail": f"{error}; pages that need a browser are not rendered"})
            raise RenderFailed("no_browser", self._missing) from None
        except (playwright_api().Error, OSError) as error:
            self._bad_starts += 1
            if self._bad_starts == BAD_STARTS:
                self._missing = _first_line(error)
                logger.warning("browser_broken", extra={"detail": self._missing})
            raise RenderFailed("render_failed", _first_line(error)) from None
        self._bad_starts = 0
        self._stats.inc_value("feedcrawl/render/browsers")
        return _Run(self._crawler, browser, config.render_timeout_sec)

    def _after(self, run: _Run) -> None:
        """After a page: end a retired browser, retire an unusable one, or start the timer of an idle one."""
        if run is not self._run:
            if not run.open:
                self._later(run.close())
        elif not run.browser.usable:
            self._retire(run)
        elif not run.open:
            if self._idle is not None:
                self._idle.cancel()
            self._idle = asyncio.get_running_loop().call_later(IDLE_SEC, self._retire, run)

    def _retire(self, run: _Run | None) -> None:
        """Give this browser no more pages; it ends after its last page."""
        if self._idle is not None:
            self._idle.cancel()
        if run is None or run is not self._run:
            return
        self._run = None
        if not run.open:
            self._later(run.close())

    def _later(self, ending: Coroutine[object, None, None]) -> None:
        task = asyncio.ensure_future(ending)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _confine(page: Page, request: Request) -> None:
    """Restrict a page: it loads only what its text needs, stays at its URL, opens no other page, and is read once
    it has settled. A page that leads elsewhere before its document is there is closed: the browser would wait for
    the document of the other URL, which is not loaded.
    """
    read = page.content
    is_there = asyncio.Event()
    leaving: list[asyncio.Task[None]] = []

    async def leave() -> None:
        await asyncio.sleep(LEAVE_SEC)
        if not is_there.is_set():
            with contextlib.suppress(playwright_api().Error):
                await page.close()

    async def judge(route: Route, loaded: Loaded) -> None:
        moves = loaded.is_navigation_request()
        framed = moves and loaded.frame.parent_frame is not None
        if may_load(loaded.url, "frame" if framed else loaded.resource_type, page_url=request.url if moves else None):
            await route.fallback()
        else:
            await route.abort("aborted")  # with any other abort reason, Chromium shows an error in place of the page
            if moves and not framed and not is_there.is_set():
                request.meta[MOVED].append(loaded.url)
                leaving.append(asyncio.ensure_future(leave()))

    async def settled() -> str:
        is_there.set()
        await _settle(page, request.meta["download_maxsize"])
        return await read()

    page.on("popup", lambda popup: popup.close())
    await page.route("**", judge)
    # Not a page method: scrapy-playwright would then wait for the `load` event, which a page can delay for ever.
    page.content = settled  # type: ignore[assignment, method-assign]


async def _settle(page: Page, limit: int) -> None:
    """Wait until the page loads nothing more, or until the limit. Raises RenderFailed for more than `limit`
    characters.
    """
    with contextlib.suppress(playwright_api().TimeoutError):
        await page.wait_for_load_state("networkidle", timeout=SETTLE_SEC * 1000)
    size = await page.evaluate("document.documentElement ? document.documentElement.outerHTML.length : 0")
    if size > limit:
        raise RenderFailed("render_too_large", f"{size} characters")


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200]


_by_crawler: WeakKeyDictionary[Crawler, Renderer] = WeakKeyDictionary()


def of(crawler: Crawler) -> Renderer:
    """The renderer that all components of a crawler share."""
    if crawler not in _by_crawler:
        _by_crawler[crawler] = Renderer(crawler)
    return _by_crawler[crawler]


async def end(crawler: Crawler) -> None:
    """End the browser of a crawler, if the crawler ever started one."""
    if crawler in _by_crawler:
        await _by_crawler[crawler].close()
