"""Dead letters, for the crawl that delivers them, the command and the REST route."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.articles.files import state
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.dead_letters import is_unreported, read_dead_letter, task_of
from feedcrawl.domain.frontier.queue_items import read_item
from feedcrawl.domain.frontier.tasks import Lease
from feedcrawl.items import Article
from feedcrawl.services.articles import publication
from feedcrawl.services.operations.inputs import queue_task
from feedcrawl.store.frontier.dead_letters import original
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from feedcrawl.domain.frontier.dead_letters import DeadLetter, Wanted
    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.services.articles.files import FileService
    from feedcrawl.services.articles.media import MediaService
    from feedcrawl.services.articles.merging import Merging
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.frontier.dead_letters import DeadLetters
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.operations.streams import Events
    from feedcrawl.store.redis.client import Client

logger = logging.getLogger(__name__)

DELIVERY_SEC: Final = 60
"""Seconds after which another process may deliver dead letters, if the process that was delivering them has died."""

NO_LIMIT = sys.maxsize


@dataclass(frozen=True, slots=True)
class Replayed:
    """The number of dead letters that are tried again, and of those that cannot be: these stay in the list."""

    replayed: int
    refused: int


@dataclass(frozen=True, slots=True)
class DeadLetterService:
    """Delivers, lists, replays and drops dead letters. Methods raise StoreUnavailable."""

    client: Client
    frontier: Frontier
    dead_letters: DeadLetters
    articles: Articles
    merging: Merging
    media: MediaService
    files: FileService
    events: Events
    sources: Callable[[], Sources]

    def deliver(self) -> int:
        """Move the frontier's dead letters to the list that consumers read; the number moved.

        One process at a time moves dead letters. A task that the frontier itself gave up (its workers died with it) is
        recorded first, like any other failure: HASH, event, page record, links to a file. Raises DiskUnavailable if a
        file's line cannot be written: its dead letter then waits.
        """
        if not self.client.set(keys.DELIVERY, 1, nx=True, ex=DELIVERY_SEC):
            return 0
        try:
            return self.frontier.deliver_dead_letters(first=self._tell)
        finally:
            self.client.delete(keys.DELIVERY)

    def _tell(self, texts: list[str]) -> None:
        for dead_letter in filter(is_unreported, map(read_dead_letter, texts)):
            with suppress(Refusal):  # the URL is no longer valid: there is nothing to record
                self._bury(dead_letter)

    def _bury(self, dead_letter: DeadLetter) -> None:
        task, at = task_of(dead_letter.fields, 1), datetime.fromtimestamp(dead_letter.at, UTC)
        known = None if task is None else self.frontier.find(task.id)
        if task is None or known is None or known[1].status != "dead":  # the task has been enqueued again meanwhile
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

    def matching(self, wanted: Wanted, limit: int = NO_LIMIT) -> Iterator[DeadLetter]:
        """The matching dead letters, oldest first, at most `limit`; read on demand."""
        self.deliver()
        start = 0
        while limit > 0 and (page := self.dead_letters.page(start)):
            found = _meant(page, wanted, limit)
            yield from found
            start, limit = start + len(page), limit - len(found)

    def replay(self, wanted: Wanted, limit: int = NO_LIMIT) -> Replayed:
        """Enqueue the tasks of the matching dead letters again, with their whole payload.

        At least once: each task is in the frontier before its dead letter leaves the list, and after a kill in between
        it is in both.
        """
        refused = 0

        def again(found: list[DeadLetter]) -> list[str]:
            nonlocal refused
            tasks, gone = [], []
            for dead_letter in found:
                try:
                    tasks.append(queue_task(read_item(original(self.client, dead_letter.text)), self.sources()))
                except Refusal:
                    refused += 1
                else:
                    gone.append(dead_letter.text)
            with self.client.pipeline(transaction=False) as pipe:
                for task in tasks:
                    self.articles.want(pipe, task.id, [task.category] if task.category else [])
                pipe.execute()
            self.frontier.enqueue(tasks, again="retry")
            return gone

        return Replayed(self._take_out(wanted, limit, again), refused)

    def drop(self, wanted: Wanted, limit: int = NO_LIMIT) -> int:
        """Remove the matching dead letters; the number removed."""
        return self._take_out(wanted, limit, lambda found: [dead_letter.text for dead_letter in found])

    def _take_out(self, wanted: Wanted, limit: int, take: Callable[[list[DeadLetter]], list[str]]) -> int:
        """Pass the matching dead letters to `take`, a page at a time, and remove those whose texts it returns;
        the number removed.
        """
        start = removed = 0
        self.deliver()
        while limit > 0 and (page := self.dead_letters.page(start)):
            found = _meant(page, wanted, limit)
            gone = self.dead_letters.remove(start, take(found)) if found else 0
            start, limit, removed = start + len(page) - gone, limit - len(found), removed + gone
        return removed


def _meant(page: list[str], wanted: Wanted, limit: int) -> list[DeadLetter]:
    return [dead_letter for dead_letter in map(read_dead_letter, page) if wanted.matches(dead_letter)][:limit]
