"""Records tasks that the frontier itself gave up, since their workers died with them."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from feedcrawl.domain.articles.files import state
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.dead_letters import task_of
from feedcrawl.domain.frontier.tasks import Lease
from feedcrawl.items import Article
from feedcrawl.services.articles import publication
from feedcrawl.store.redis.connection import in_order

if TYPE_CHECKING:
    from feedcrawl.domain.frontier.dead_letters import DeadLetter
    from feedcrawl.services.articles.files import FileService
    from feedcrawl.services.articles.media import MediaService
    from feedcrawl.services.articles.merging import Merging
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.operations.streams import Events
    from feedcrawl.store.redis.client import Client

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Records a task that was given up like any other failure: HASH, event, page record, links to a file."""

    client: Client
    frontier: Frontier
    articles: Articles
    merging: Merging
    media: MediaService
    files: FileService
    events: Events

    def record(self, dead_letter: DeadLetter) -> None:
        """Record the failure, unless the task has been enqueued again or its URL is no longer valid."""
        with suppress(Refusal):
            self._bury(dead_letter)

    def _bury(self, dead_letter: DeadLetter) -> None:
        task, at = task_of(dead_letter.fields, 1), datetime.fromtimestamp(dead_letter.at, UTC)
        known = None if task is None else self.frontier.find(task.id)
        if task is None or known is None or known[1].status != "dead":
            return
        if task.kind == "file":
            self.files.end(task, state("failed", reason=dead_letter.reason), at)
            logger.error("file_refused", extra={"url": task.url, "host": task.host, "reason": dead_letter.reason})
            return
        article = Article(Lease(task, known[1], ""), task.url, at, "failure")
        article.code, article.reason, article.ended = "FAIL_PARSE", dead_letter.reason, True
        article.detail = f"given up after {dead_letter.fields.get('attempts')} attempts"
        publication.name(article)
        self.merging.settle(article)
        article.record = publication.record(article)
        article.writes = self.client.pipeline(transaction=False)
        publication.queue(article.writes, article, self.articles, self.merging)
        in_order(article.writes)
        self.events.add(article.writes, publication.events(article, self.merging))
        in_order(article.writes)
        self.media.finish(article.writes, article)
        article.writes.execute()
        logger.error("article_refused", extra={"uid": article.uid, "url": article.url, "reason": article.reason})
