"""Tasks of kind `file`: one media file, stored or refused. A failed file does not affect the entry or article
that names it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, cast

from scrapy import Request

from feedcrawl.crawl.failures import sentence
from feedcrawl.domain.articles import files
from feedcrawl.domain.articles.file_types import media_type
from feedcrawl.domain.errors import Refusal
from feedcrawl.handlers.base import TaskHandler, content_type, limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from feedcrawl.domain.frontier.outcome import Outcome
    from feedcrawl.domain.frontier.tasks import Lease

logger = logging.getLogger(__name__)


class FileTasks(TaskHandler):
    """Requests media files by the rules for pages: the host's turn, circuit and robots.txt, and the address
    guard.
    """

    def prepare(self, leases: Sequence[Lease]) -> None:
        """Nothing to load."""

    def request(self, lease: Lease) -> Request:
        """The request of a file, limited in size, and in type as soon as the response headers are there."""
        config, types = self.wired.config, self.wired.files.types
        meta = {
            "file_types": types,
            **limits(config.article_timeout_sec, config.media_max_bytes),
        }
        headers = {"Accept": f"{', '.join(types)}, */*;q=0.1"}
        return Request(lease.task.url, self.parse, "GET", headers, meta=meta, errback=self.failed, dont_filter=True)

    async def parse(self, response: Response) -> None:
        """Store a body of an accepted type: first on the disk, then in the file's record, then the end of the
        task.
        """
        request, declared = cast("Request", response.request), media_type(content_type(response))
        outcome: Outcome = request.meta["outcome"]
        if outcome.kind != "fetched":
            self._unfetched(request, outcome, response.status)
            return
        try:
            kind, extension = files.judge(declared, response.body[: files.HEAD_BYTES], self.wired.files.types)
        except Refusal as refusal:
            self._refuse(request, refusal.code, response.status, refusal.detail)
            return
        lease: Lease = request.meta["lease"]
        file = await asyncio.to_thread(self.wired.files.keep, response.body, kind, extension)
        if self.leases.confirms(lease):
            self.wired.files.end(lease.task, file, self.wired.now())
            self.leases.done(lease, reason="stored", http_status=response.status)
            self._count("stored")
            self._count("bytes", len(response.body))
            logger.info("file_stored", extra={"url": request.url, "host": lease.task.host, **file})

    async def failed(self, failure: Failure) -> None:
        """Handle a file that got no response."""
        settled = self.settled(failure)
        if settled is not None:
            self._unfetched(*settled, settled[0].meta.get("http_status"), sentence(failure.value))

    def _unfetched(self, request: Request, outcome: Outcome, http_status: int | None, detail: str = "") -> None:
        ending = self.ending(request, outcome, http_status)
        if ending == "dead":
            self._refuse(request, outcome.reason, http_status, detail, dead_letter=outcome.dead_letter)
        elif ending == "ended":
            self._log_refused(request, outcome.reason, detail)

    def _refuse(
        self, request: Request, reason: str, http_status: int | None, detail: str = "", *, dead_letter: bool = True
    ) -> None:
        self._log_refused(request, reason, detail)
        self.leases.done(
            request.meta["lease"],
            status="dead",
            reason=reason,
            dead_letter=dead_letter,
            http_status=http_status,
            patch={"last_error": reason},
        )

    def _log_refused(self, request: Request, reason: str, detail: str) -> None:
        task = request.meta["lease"].task
        self.wired.files.end(task, files.state("failed", reason=reason), self.wired.now())
        self._count(f"failed/{reason}")
        fields = {"url": request.url, "host": task.host, "reason": reason, "detail": detail[:200]}
        logger.info("file_refused", extra=fields)

    def _count(self, what: str, by: int = 1) -> None:
        self.stats.inc_value(f"feedcrawl/files/{what}", by)
