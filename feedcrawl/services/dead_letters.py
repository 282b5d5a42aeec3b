"""What becomes of dead letters: the command and the REST route come through here."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl.domain.dead_letters import read_letter
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.queue_items import read_item
from feedcrawl.services.inputs import queue_task
from feedcrawl.store.connection import map_redis_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from feedcrawl.domain.dead_letters import Letter, Wanted
    from feedcrawl.wiring import Wiring

NO_LIMIT = sys.maxsize


@dataclass(frozen=True, slots=True)
class Replayed:
    """How many letters are tried again, and how many cannot be: those stay where they are."""

    replayed: int
    refused: int


def letters(wired: Wiring, wanted: Wanted, limit: int = NO_LIMIT) -> Iterator[Letter]:
    """The letters that are meant, oldest first, at most `limit`; read as they are asked for."""
    with map_redis_errors():
        wired.frontier.deliver_dead_letters()
        start = 0
        while limit > 0 and (page := wired.dead_letters.page(start)):
            found = _meant(page, wanted, limit)
            yield from found
            start, limit = start + len(page), limit - len(found)


def replay(wired: Wiring, wanted: Wanted, limit: int = NO_LIMIT) -> Replayed:
    """Has the letters that are meant tried again, with all that their tasks carried.

    At least once: each is in the frontier before it leaves the list, and after a kill in between it is in both.
    """
    refused = 0

    def again(found: list[Letter]) -> list[str]:
        nonlocal refused
        tasks, gone = [], []
        for letter in found:
            try:
                tasks.append(queue_task(read_item(letter.text)))
            except Refusal:
                refused += 1
            else:
                gone.append(letter.text)
        with wired.client.pipeline(transaction=False) as pipe:
            for task in tasks:
                wired.articles.want(pipe, task.id, [task.category] if task.category else [])
            pipe.execute()
        wired.frontier.push(tasks, again="retry")
        return gone

    return Replayed(_take_out(wired, wanted, limit, again), refused)


def drop(wired: Wiring, wanted: Wanted, limit: int = NO_LIMIT) -> int:
    """Takes out the letters that are meant; answers how many there were."""
    return _take_out(wired, wanted, limit, lambda found: [letter.text for letter in found])


def _take_out(wired: Wiring, wanted: Wanted, limit: int, take: Callable[[list[Letter]], list[str]]) -> int:
    """Shows `take` the letters that are meant, a page at a time, and removes those whose text it answers; how many."""
    start = removed = 0
    with map_redis_errors():
        wired.frontier.deliver_dead_letters()
        while limit > 0 and (page := wired.dead_letters.page(start)):
            found = _meant(page, wanted, limit)
            gone = wired.dead_letters.remove(start, take(found)) if found else 0
            start, limit, removed = start + len(page) - gone, limit - len(found), removed + gone
    return removed


def _meant(page: list[str], wanted: Wanted, limit: int) -> list[Letter]:
    return [letter for letter in map(read_letter, page) if wanted.matches(letter)][:limit]
