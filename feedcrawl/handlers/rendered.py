"""Pages that show no article without their scripts: rendered once in a browser before they are given up."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import TextResponse
from scrapy.utils.asyncio import sleep

from feedcrawl import wiring
from feedcrawl.domain.articles.rendering import wants_rendering
from feedcrawl.domain.extraction.reading import REFRESH
from feedcrawl.domain.frontier.outcome import retry_wait_sec
from feedcrawl.outgoing.routes import ROUTE_OF
from feedcrawl.rendering import renderer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.crawler import Crawler

    from feedcrawl.domain.sites.sources import Render
    from feedcrawl.items import Article

logger = logging.getLogger(__name__)

TRANSIENT = frozenset({"render_busy", "render_timeout", "render_failed"})
"""Failures that another attempt may cure. After any other failure, the result of the plain page stands."""
BUSY_SEC = 10.0
STEP_SEC = 1.0


class Renders:
    """Renders the pages for which a browser may help. `extract` writes a page's article, or its refusal, into an
    item.
    """

    def __init__(self, crawler: Crawler, extract: Callable[[Article, TextResponse], Awaitable[None]]) -> None:
        self._crawler = crawler
        self._wired = wiring.of(crawler)
        self._extract = extract

    async def improve(self, article: Article, plain: TextResponse) -> bool:
        """Replace the result of the plain page if the rendered page gives more.

        False if the task went back to the frontier and there is nothing to store. The stored raw bytes, status and
        validators are those of the plain page. An article of the rendered page has the time of the rendering, and the
        URL at which the browser ended; so has the failure of a page that has no article either way.
        """
        if not self._is_needed(article) or renderer.of(self._crawler).missing:
            return True
        try:
            shown = await self._shown(article, plain.url)
        except IgnoreRequest as failure:
            if article.extraction is None:
                article.at = self._wired.now()
            return not self._gives_back(article, str(getattr(failure, "reason", "render_failed")), str(failure))
        if shown is not None and isinstance(shown, TextResponse):
            found = replace(
                article,
                at=self._wired.now(),
                final_url=shown.url,
                status="success",
                code=None,
                reason="",
                detail="",
                extraction=None,
                rendered=True,
                dead_letter=False,
            )
            await self._extract(found, shown)
            if found.extraction is not None:
                found.rendered = found.extraction.extractor != "feed"
                vars(article).update(vars(found))
            elif article.extraction is None and found.reason != REFRESH:
                article.at, article.final_url = found.at, found.final_url
                article.code, article.reason, article.detail = found.code, found.reason, f"rendered: {found.detail}"
        return True

    def _is_needed(self, article: Article) -> bool:
        source = self._wired.sources.of(article.final_url or article.url, article.lease.task.source)
        mode = cast("Render", (source and source.render) or self._wired.config.render)
        found = article.extraction
        is_doubted = found is not None and found.extractor == "feed" and not (source and source.full_text)
        return wants_rendering(
            mode,
            article.html or "",
            refusal=None if found is not None else f"{article.code}: {article.detail}",
            feed_text=found.text_len if found is not None and is_doubted else None,
        )

    async def _shown(self, article: Article, url: str) -> object:
        """The rendered page, requested in the host's next turn; None if the lease was lost meanwhile."""
        wait = self._wired.leases.turn(article.lease)
        if wait is None:
            return None
        engine = self._crawler.engine
        assert engine is not None
        while wait > 0 and engine.running:
            await sleep(min(wait, STEP_SEC))
            wait -= STEP_SEC
        if not engine.running:
            raise renderer.RenderFailed("shutdown")
        source, limit = article.lease.task.source, self._wired.config.max_article_bytes
        meta = {"playwright": True, "download_maxsize": limit, ROUTE_OF: source}
        logger.info("article_rendering", extra={"uid": article.lease.id, "url": url})
        return await engine.download_async(Request(url, meta=meta, dont_filter=True))

    def _note(self, article: Article, reason: str, detail: str) -> None:
        """Note the rendering in the failure of a page. If the browser exceeded its time limit, that becomes the
        page's failure.
        """
        if article.extraction is not None:
            article.detail = ""
            return
        article.detail = f"{article.detail}; {detail}".removeprefix("; ")
        if reason == "render_timeout":
            article.code, article.reason = "FAIL_TIMEOUT", reason

    def _gives_back(self, article: Article, reason: str, detail: str) -> bool:
        """True if the task is given back for a later attempt. If not, the result of the plain page stands, with a
        note of the rendering.
        """
        lease, config = article.lease, self._wired.config
        assert self._crawler.engine is not None
        logger.info("render_failed", extra={"uid": lease.id, "url": article.url, "reason": reason, "detail": detail})
        if not self._crawler.engine.running:
            self._wired.leases.give_back(lease, reason="shutdown")
            return True
        if reason not in TRANSIENT or (reason != "render_busy" and lease.history.attempts + 1 >= config.max_attempts):
            self._note(article, reason, detail)
            return False
        delay = BUSY_SEC if reason == "render_busy" else retry_wait_sec(config.retry_base_sec, lease.history.attempts)
        self._wired.leases.give_back(lease, reason=reason, delay_sec=delay, counted=reason != "render_busy")
        return True
