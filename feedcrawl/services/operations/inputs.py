"""Work from other programs: `crawler_queue`, and members that they add to `rss:category_links:*`."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.queue_items import QueueItem, check_category, read_item, unwrapped
from feedcrawl.domain.secrets import without_secrets
from feedcrawl.domain.sites.owners import Sources
from feedcrawl.services.articles.repeats import Repeated
from feedcrawl.services.articles.tasks import TaskOptions, article_task
from feedcrawl.store.frontier.dead_letters import original
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.connection import key_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from feedcrawl.domain.frontier.tasks import Again, Task
    from feedcrawl.services.articles.repeats import Repeats
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.redis.client import Client

logger = logging.getLogger(__name__)

BATCH = 100
KEYS_AT_ONCE = 1_000
"""Keys among which one SCAN searches: some 0.3 ms of the server's time."""
SEEN_LIMIT = 500_000
"""The most category links that a worker remembers, so that they are not enqueued anew every half minute."""


def queue_task(item: QueueItem, sources: Sources) -> Task:
    """The task for an item of the queue; raises InvalidUrl if the item is no usable URL."""
    options = TaskOptions("queue", categories=[item.category] if item.category else [], priority=item.priority)
    return item.task or article_task(item.url, sources, options)


class Inputs:
    """Enqueues the work of other programs. Every method may raise StoreUnavailable; no item is lost by that.

    An item of the queue is moved to this worker's list of taken items, enqueued in the frontier, and only then removed;
    any other worker takes over the list of a killed worker. `ahead` is the most tasks of the queue that wait in the
    frontier; while there are as many, further items stay in the queue, where their producers can count them. `count` is
    called with the number of URLs that were known already and are not fetched again. `queue` and `dlq_name` are the
    names of the input queue and of the list of dead letters.
    """

    def __init__(
        self,
        client: Client,
        leases: Leases,
        articles: Articles,
        *,
        worker: str,
        now: Callable[[], datetime],
        repeats: Repeats,
        ahead: int = 1000,
        queue: str = keys.CRAWLER_QUEUE,
        dlq_name: str = keys.DEAD_LETTERS,
        count: Callable[[int], None] = lambda _: None,
        sources: Callable[[], Sources] = Sources,
    ) -> None:
        self._client = client
        self._now = now
        self._leases = leases
        self._articles = articles
        self._queue = queue
        self._dlq_name = dlq_name
        self._taken = keys.queue_taken(worker, queue)
        self._repeats = repeats
        self._ahead = ahead
        self._count = count
        self._sources = sources
        self._seen: set[tuple[str, str]] = set()

    def passes(self) -> Iterator[int | None]:
        """Read the items that killed workers had taken and the links of the categories, in passes without end.

        Yields the number of new tasks after each step of a few commands, and None after a pass.

        Other programs write these keys without notice, so they are searched for among all keys. A reader that takes a
        limited number of steps at a time costs the server the same, however many keys there are.
        """
        while True:
            yield from self.recover()
            yield from self.from_categories()
            yield None

    def recover(self) -> Iterator[int]:
        """Enqueue the items that killed workers had taken; the number of items after each step."""
        for page in key_pages(self._client, keys.queues_taken(self._queue), KEYS_AT_ONCE):
            count = 0
            for left in page:
                items = self._client.lrange(left, 0, -1)
                self._push(items)
                for item in items:
                    self._client.lrem(left, 1, item)
                count += len(items)
            yield count

    def from_queue(self) -> int:
        """Enqueue up to a batch of `crawler_queue`, as far as the frontier has room; returns the number of items."""
        waiting = self._client.llen(self._queue)
        if not waiting:
            return 0
        room = self._ahead - self._leases.pending("queue")
        with self._client.pipeline(transaction=False) as pipe:
            for _ in range(min(BATCH, waiting, room)):
                pipe.lmove(self._queue, self._taken, "LEFT", "RIGHT")
            items = [item for item in pipe.execute() if item is not None]
        if items:
            self._push(items)
            with self._client.pipeline(transaction=False) as pipe:
                for item in items:
                    pipe.lrem(self._taken, 1, item)
                pipe.execute()
        return len(items)

    def from_categories(self) -> Iterator[int]:
        """Enqueue the links that were added to the categories; the number of new tasks after each step."""
        for page in key_pages(self._client, keys.CATEGORY_LINKS_PATTERN, KEYS_AT_ONCE):
            yield 0
            for name in page:
                category = name.removeprefix(keys.category_links(""))
                if self._is_usable(name, category):
                    yield from self._from_category(name, category)

    def _from_category(self, name: str, category: str) -> Iterator[int]:
        cursor, members = self._client.sscan(name, 0, count=BATCH)
        yield self._links(category, members)
        while cursor:
            cursor, members = self._client.sscan(name, cursor, count=BATCH)
            yield self._links(category, members)

    def _is_usable(self, name: str, category: str) -> bool:
        """True if a key's category is valid; if not, that is logged once per worker."""
        try:
            check_category(category)
        except Refusal as error:
            if (category, "") not in self._seen:
                self._seen.add((category, ""))
                self._refuse(name, error)
            return False
        return True

    def _links(self, category: str, members: list[str]) -> int:
        fresh = [member for member in members if (category, member) not in self._seen]
        tasks = [task for member in fresh if (task := self._task(QueueItem(member, category)))]
        if tasks:
            tried = self._client.smismember(keys.CANONICAL_ATTEMPTED, [task.id for task in tasks])
            tasks = [task for task, was in zip(tasks, tried, strict=True) if not was]
        self._request_categories((task, category) for task in tasks)
        enqueued = self._leases.enqueue(tasks) if tasks else []
        if len(self._seen) > SEEN_LIMIT:
            self._seen.clear()
        self._seen.update((category, member) for member in fresh)
        return sum(1 for answer in enqueued if answer == "queued")

    def _push(self, items: list[str]) -> None:
        tasks: list[tuple[Task, float, Again]] = []
        queued: list[Repeated] = []
        for text in items:
            try:
                item = read_item(original(self._client, text))
                task = self._task(item, refuse=True)
            except Refusal as error:
                self._refuse(text, error)
                continue
            assert task is not None
            tasks.append((task, 0.0, item.again))
            queued.append(Repeated(task.id, item.url, item.category))
        self._request_categories(
            (task, each.category) for (task, _, _), each in zip(tasks, queued, strict=True) if each.category
        )
        enqueued = self._leases.enqueue_each(tasks) if tasks else []
        known = [each for each, answer in zip(queued, enqueued, strict=True) if answer == "known"]
        if known:
            self._repeats.announce(known)
            self._count(len(known))

    def _request_categories(self, tasks: Iterable[tuple[Task, str]]) -> None:
        with self._client.pipeline(transaction=False) as pipe:
            for task, category in tasks:
                self._articles.request_categories(pipe, task.id, [category])
            pipe.execute()

    def _task(self, item: QueueItem, *, refuse: bool = False) -> Task | None:
        try:
            return queue_task(item, self._sources())
        except Refusal as error:
            if refuse:
                raise
            self._refuse(item.url, error)
            return None

    def _refuse(self, text: str, error: Refusal) -> None:
        text = without_secrets(text)
        logger.warning("queue_item_refused", extra={"item": text[:500], "reason": error.code, "detail": error.detail})
        item, at = unwrapped(text)[:10_000], round(self._now().timestamp(), 3)
        dead_letter = {"item": item, "reason": error.code, "detail": error.detail, "at": at}
        self._client.rpush(self._dlq_name, json.dumps(dead_letter, ensure_ascii=False))
