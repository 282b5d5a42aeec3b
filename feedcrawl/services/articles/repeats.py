"""Answers for URLs that were queued and are not fetched: those that ended a short time ago, and those whose article is
stored already, since another URL brought it.

The program that queued such a URL waits for an event. It gets `url_known`, and again the events of the result that is
stored: the article, the failure, the page that is still cached.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, NamedTuple

from feedcrawl.domain.frontier.tasks import History
from feedcrawl.domain.operations.events import Event, repeated
from feedcrawl.domain.secrets import without_secrets
from feedcrawl.services.articles import tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.operations.streams import Events
    from feedcrawl.store.redis.client import Client

logger = logging.getLogger(__name__)

BATCH: Final = 100
AWAITED: Final = frozenset({"queue", "manual"})
"""Origins of tasks that a program or a person queued and waits for."""
NAMES: Final = ("status", *tasks.EVENT_FIELDS, *tasks.FAILURE_FIELDS)
LOGGED: Final = 20
"""The most URLs that one log line names."""


class Repeated(NamedTuple):
    """A URL that was queued again: its uid, the URL as queued, and the category that was named with it."""

    uid: str
    url: str
    category: str | None = None


class Repeats:
    """Every method may raise StoreUnavailable."""

    def __init__(
        self, client: Client, frontier: Frontier, articles: Articles, events: Events, now: Callable[[], datetime]
    ) -> None:
        self._client = client
        self._frontier = frontier
        self._articles = articles
        self._events = events
        self._now = now

    def announce(self, urls: Sequence[Repeated]) -> None:
        """Publish `url_known` for each URL, and the events of its stored result again, under new ids."""
        for first in range(0, len(urls), BATCH):
            self._announce(urls[first : first + BATCH])
        if urls:
            shown = [without_secrets(each.url) for each in urls[:LOGGED]]
            logger.info("urls_known", extra={"number": len(urls), "urls": shown})

    def announce_stored(self, lease: Lease, article_uid: str) -> None:
        """Publish the same for a task that ends without a request, if a program or a person queued its URL."""
        task = lease.task
        if task.origin not in AWAITED:
            return
        at, url = self._now(), tasks.requested_url(task)
        record = tasks.record_of(self._articles.outlines([article_uid], NAMES)[0])
        known = History(status="fetched", reason="already_stored")
        html = self._articles.cached_page(tasks.page_key(url))
        events = [tasks.known_event((lease.id, url, task.category), known, article_uid, at)]
        events += [repeated(one, at) for one in _events(record)]
        events += [tasks.cached_page_event(html, url, at)] if html else []
        with self._client.pipeline(transaction=False) as pipe:
            self._events.add(pipe, events)
            pipe.execute()
        logger.info("urls_known", extra={"number": 1, "urls": [without_secrets(url)]})

    def announce_unchanged(self, lease: Lease) -> None:
        """Publish the event of a cached page once more to the program that queued its URL again (HTTP 304)."""
        url = tasks.requested_url(lease.task)
        if lease.history.again == "queue_again" and (page := self._articles.cached_page(tasks.page_key(url))):
            with self._client.pipeline(transaction=False) as pipe:
                self._events.add(pipe, [tasks.cached_page_event(page, url, self._now())])
                pipe.execute()

    def _announce(self, urls: Sequence[Repeated]) -> None:
        at, uids = self._now(), [each.uid for each in urls]
        histories, targets = self._frontier.histories(uids), self._articles.targets(uids)
        articles = [targets.get(uid, uid) for uid in uids]
        records = map(tasks.record_of, self._articles.outlines(articles, NAMES))
        cached = self._articles.are_cached([tasks.page_key(each.url) for each in urls])
        events: list[Event] = []
        for each, uid, record, page in zip(urls, articles, records, cached, strict=True):
            stored = _events(record)
            is_article = record.get("status") == "success"
            events.append(tasks.known_event(each, histories.get(each.uid), uid if is_article else None, at))
            events += [repeated(one, at) for one in stored]
            html = self._articles.cached_page(tasks.page_key(each.url)) if page else ""
            events += [tasks.cached_page_event(html, each.url, at)] if html else []
        with self._client.pipeline(transaction=False) as pipe:
            self._events.add(pipe, events)
            pipe.execute()


def _events(record: ArticleFields) -> list[Event]:
    """The events of an article or of a failure, as they were when it was stored; none if nothing is stored."""
    if record.get("status") == "success":
        return tasks.article_events(record, updated=False)
    return [tasks.failure_event(record)] if record.get("status") == "failure" else []
