"""What becomes of dead letters: the crawl that hands them out, the command and the REST route come through here."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.articles.files import state
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.dead_letters import is_untold, read_letter, task_of
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

    from feedcrawl.domain.frontier.dead_letters import Letter, Wanted
    from feedcrawl.services.articles.files import FileService
    from feedcrawl.services.articles.joins import Joins
    from feedcrawl.services.articles.media import MediaService
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.frontier.dead_letters import DeadLetters
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.operations.streams import Events
    from feedcrawl.store.redis.client import Client

logger = logging.getLogger(__name__)

DELIVERY_SEC: Final = 60
"""After how long another hands letters out where one has died while it did."""

NO_LIMIT = sys.maxsize


@dataclass(frozen=True, slots=True)
class Replayed:
    """How many letters are tried again, and how many cannot be: those stay where they are."""

    replayed: int
    refused: int


@dataclass(frozen=True, slots=True)
class DeadLetterService:
    """Hands out, lists, replays and drops dead letters. Methods raise StoreUnavailable."""

    client: Client
    frontier: Frontier
    dead_letters: DeadLetters
    articles: Articles
    joins: Joins
    media: MediaService
    files: FileService
    events: Events

    def deliver(self) -> int:
        """Moves the frontier's dead letters to the list that consumers read; the number moved.

        One process at a time moves letters. A task that the frontier itself gave up (its workers died with it) is
        recorded first as any other failure is: HASH, event, page record, links to a file. Raises DiskUnavailable where
        a file's line cannot be written: its letter then waits.
        """
        if not self.client.set(keys.DELIVERY, 1, nx=True, ex=DELIVERY_SEC):
            return 0
        try:
            return self.frontier.deliver_dead_letters(first=self._tell)
        finally:
            self.client.delete(keys.DELIVERY)

    def _tell(self, texts: list[str]) -> None:
        for letter in filter(is_untold, map(read_letter, texts)):
            with suppress(Refusal):  # a URL that is none any more: there is nothing to tell of it
                self._bury(letter)

    def _bury(self, letter: Letter) -> None:
        task, at = task_of(letter.said, 1), datetime.fromtimestamp(letter.at, UTC)
        known = None if task is None else self.frontier.find(task.id)
        if task is None or known is None or known[1].status != "dead":  # it has come again meanwhile
            return
        if task.kind == "file":
            self.files.end(task, state("failed", reason=letter.reason), at)
            logger.error("file_refused", extra={"url": task.url, "host": task.host, "reason": letter.reason})
            return
        article = Article(Lease(task, known[1], ""), task.url, at, "failure")
        article.code, article.reason, article.ended = "FAIL_PARSE", letter.reason, True
        article.detail = f"given up after {letter.said.get('attempts')} attempts"
        publication.name(article)
        self.joins.settle(article)
        article.record = publication.record(article)
        article.writes = self.client.pipeline(transaction=False)
        publication.queue(article, self.articles, self.joins)
        in_order(article.writes)
        self.events.add(article.writes, publication.told(article, self.joins))
        in_order(article.writes)
        self.media.finish(article.writes, article)
        article.writes.execute()
        logger.error("article_refused", extra={"uid": article.uid, "url": article.url, "reason": article.reason})

    def letters(self, wanted: Wanted, limit: int = NO_LIMIT) -> Iterator[Letter]:
        """The letters that are meant, oldest first, at most `limit`; read as they are asked for."""
        self.deliver()
        start = 0
        while limit > 0 and (page := self.dead_letters.page(start)):
            found = _meant(page, wanted, limit)
            yield from found
            start, limit = start + len(page), limit - len(found)

    def replay(self, wanted: Wanted, limit: int = NO_LIMIT) -> Replayed:
        """Has the letters that are meant tried again, with all that their tasks carried.

        At least once: each is in the frontier before it leaves the list, and after a kill in between it is in both.
        """
        refused = 0

        def again(found: list[Letter]) -> list[str]:
            nonlocal refused
            tasks, gone = [], []
            for letter in found:
                try:
                    tasks.append(queue_task(read_item(original(self.client, letter.text))))
                except Refusal:
                    refused += 1
                else:
                    gone.append(letter.text)
            with self.client.pipeline(transaction=False) as pipe:
                for task in tasks:
                    self.articles.want(pipe, task.id, [task.category] if task.category else [])
                pipe.execute()
            self.frontier.push(tasks, again="retry")
            return gone

        return Replayed(self._take_out(wanted, limit, again), refused)

    def drop(self, wanted: Wanted, limit: int = NO_LIMIT) -> int:
        """Takes out the letters that are meant; answers how many there were."""
        return self._take_out(wanted, limit, lambda found: [letter.text for letter in found])

    def _take_out(self, wanted: Wanted, limit: int, take: Callable[[list[Letter]], list[str]]) -> int:
        """Passes the wanted letters to `take`, a page at a time, and removes those whose texts it returns; how many."""
        start = removed = 0
        self.deliver()
        while limit > 0 and (page := self.dead_letters.page(start)):
            found = _meant(page, wanted, limit)
            gone = self.dead_letters.remove(start, take(found)) if found else 0
            start, limit, removed = start + len(page) - gone, limit - len(found), removed + gone
        return removed


def _meant(page: list[str], wanted: Wanted, limit: int) -> list[Letter]:
    return [letter for letter in map(read_letter, page) if wanted.matches(letter)][:limit]
