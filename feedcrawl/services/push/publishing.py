"""Tells the configured hub that published feeds have news (WebSub, the publisher's part).

A hub is notified by a task of its own, at the pace of its host; news that come before that are sent together.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode

from feedcrawl.domain.articles.outfeeds import iri
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.urls import hostname

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from feedcrawl.items import Article
    from feedcrawl.store.frontier.interface import Frontier

NEWS: Final = "hub-news:"
"""Prefix of the id of a task that tells the hub of news."""
TOGETHER_SEC: Final = 2.0
"""Time within which news of one feed are sent together."""
FORMS: Final = ("atom", "json")


class Publisher:
    """Without a hub or an address of our own no hub is notified. Methods may raise StoreUnavailable."""

    def __init__(self, frontier: Frontier, hub_url: str | None, public_url: str | None) -> None:
        self._frontier = frontier
        self._hub = hub_url
        self._base = public_url.rstrip("/") if public_url else None

    def stored(self, article: Article) -> None:
        """Notify the hub of the feeds that a stored article is in: that of all articles, those of its categories and of
        its source.
        """
        named = ["articles", *(f"categories/{quote(each, safe='')}" for each in article.categories)]
        source = article.lease.task.source
        self._enqueue([*named, *([f"sources/{quote(source, safe='')}"] if source else [])])

    def collection_changed(self, collection: str) -> None:
        """Notify the hub that a collection has changed."""
        self._enqueue([f"collections/{collection}"])

    def _enqueue(self, paths: Iterable[str]) -> None:
        tasks = list(self._tasks(paths))
        if not tasks:
            return
        enqueued = self._frontier.enqueue(tasks, delay_sec=TOGETHER_SEC)
        ended = [task for task, answer in zip(tasks, enqueued, strict=True) if answer in ("known", "leased")]
        if ended:
            self._frontier.enqueue(ended, delay_sec=TOGETHER_SEC, again="push")

    def _tasks(self, paths: Iterable[str]) -> Iterator[Task]:
        if self._hub is None or self._base is None:
            return
        for path in paths:
            for form in FORMS:
                topic = iri(f"{self._base}/{path}.{form}")
                digest = hashlib.sha256(topic.encode()).hexdigest()[:16]
                yield Task(f"{NEWS}{digest}", "websub", self._hub, hostname(self._hub), payload={"topic": topic})


def form_of(task: Task) -> bytes:
    """The form that tells a hub of news; hubs read either name of the topic."""
    topic = task.payload["topic"]
    return urlencode({"hub.mode": "publish", "hub.url": topic, "hub.topic": topic}).encode()
