"""Dead letters, for the crawl that delivers them, the command and the REST route."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.dead_letters import is_unreported, read_dead_letter
from feedcrawl.domain.frontier.queue_items import read_item
from feedcrawl.store.frontier.dead_letters import original
from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from feedcrawl.domain.frontier.dead_letters import DeadLetter, DeadLetterFilter
    from feedcrawl.domain.frontier.queue_items import QueueItem
    from feedcrawl.domain.frontier.tasks import Task
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.frontier.dead_letters import DeadLetters
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.redis.client import Client

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
    task_for: Callable[[QueueItem], Task]
    """The task of an item of the queue."""
    record: Callable[[DeadLetter], None]
    """Records a task that the frontier itself gave up (`GivenUp.record`), before its dead letter is delivered."""

    def deliver(self) -> int:
        """Move the frontier's dead letters to the list that consumers read; returns the number moved.

        One process at a time moves dead letters. Raises DiskUnavailable if a file's line cannot be written: its dead
        letter then waits.
        """
        if not self.client.set(keys.DELIVERY, 1, nx=True, ex=DELIVERY_SEC):
            return 0
        try:
            return self.frontier.deliver_dead_letters(first=self._record)
        finally:
            self.client.delete(keys.DELIVERY)

    def _record(self, texts: list[str]) -> None:
        for dead_letter in filter(is_unreported, map(read_dead_letter, texts)):
            self.record(dead_letter)

    def matching(self, conditions: DeadLetterFilter, limit: int = NO_LIMIT) -> Iterator[DeadLetter]:
        """The matching dead letters, oldest first, at most `limit`; read on demand."""
        self.deliver()
        start = 0
        while limit > 0 and (page := self.dead_letters.page(start)):
            found = _matching(page, conditions, limit)
            yield from found
            start, limit = start + len(page), limit - len(found)

    def replay(self, conditions: DeadLetterFilter, limit: int = NO_LIMIT) -> Replayed:
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
                    tasks.append(self.task_for(read_item(original(self.client, dead_letter.text))))
                except Refusal:
                    refused += 1
                else:
                    gone.append(dead_letter.text)
            with self.client.pipeline(transaction=False) as pipe:
                for task in tasks:
                    self.articles.request_categories(pipe, task.id, [task.category] if task.category else [])
                pipe.execute()
            self.frontier.enqueue(tasks, again="retry")
            return gone

        return Replayed(self._take_out(conditions, limit, again), refused)

    def drop(self, conditions: DeadLetterFilter, limit: int = NO_LIMIT) -> int:
        """Remove the matching dead letters; returns the number removed."""
        return self._take_out(conditions, limit, lambda found: [dead_letter.text for dead_letter in found])

    def _take_out(self, conditions: DeadLetterFilter, limit: int, take: Callable[[list[DeadLetter]], list[str]]) -> int:
        """Pass the matching dead letters to `take`, a page at a time, and remove those whose texts it returns;
        the number removed.
        """
        start = removed = 0
        self.deliver()
        while limit > 0 and (page := self.dead_letters.page(start)):
            found = _matching(page, conditions, limit)
            gone = self.dead_letters.remove(start, take(found)) if found else 0
            start, limit, removed = start + len(page) - gone, limit - len(found), removed + gone
        return removed


def _matching(page: list[str], conditions: DeadLetterFilter, limit: int) -> list[DeadLetter]:
    return [dead_letter for dead_letter in map(read_dead_letter, page) if conditions.matches(dead_letter)][:limit]
