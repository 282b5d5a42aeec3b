"""What lies in the frontier, a part at a time."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nlargest
from itertools import count
from operator import itemgetter
from typing import TYPE_CHECKING

from feedcrawl.store.connection import map_redis_errors

if TYPE_CHECKING:
    from feedcrawl.domain.tasks import History, Task
    from feedcrawl.store.frontier import Frontier


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which tasks are meant: all that is given must hold; `status` is that of `History`."""

    host: str | None = None
    source: str | None = None
    status: str | None = None
    kind: str | None = None
    text: str | None = None
    """A part of the URL."""

    def means(self, task: Task, history: History) -> bool:
        """Whether a task is one of them."""
        pairs = (
            (self.host, task.host),
            (self.source, task.source),
            (self.status, history.status),
            (self.kind, task.kind),
        )
        return all(wanted in (None, found) for wanted, found in pairs) and (self.text or "") in task.url


def urls(
    frontier: Frontier,
    wanted: Wanted,
    *,
    cursor: int = 0,
    limit: int = 50,
    parts: int | None = None,
    part: int = 1000,
) -> tuple[int, list[tuple[Task, History]]]:
    """At least `limit` of the tasks from a cursor on, and where to go on (0: these were the last).

    It goes through the frontier as SCAN does: each part costs the server as much as any other, what was there all the
    time comes at least once, and what is found together is answered together. With `parts` it looks at no more than so
    many, of about `part` keys each, and may have found fewer.
    """
    found: list[tuple[Task, History]] = []
    for _ in range(parts) if parts else count():
        with map_redis_errors():
            cursor, some = frontier.urls(cursor, count=part)
        found += [each for each in some if wanted.means(*each)]
        if not cursor or len(found) >= limit:
            break
    return cursor, found


def busiest(frontier: Frontier, limit: int, *, parts: int | None = None) -> list[tuple[str, int]]:
    """The hosts with the most pending tasks; goes through all hosts, or as many as lie in so many parts."""
    found: dict[str, int] = {}
    cursor = 0
    for _ in range(parts) if parts else count():
        with map_redis_errors():
            cursor, some = frontier.hosts(cursor)
        found.update(some)
        if not cursor:
            break
    return nlargest(limit, found.items(), key=itemgetter(1))
