"""Content of the dashboard: each function returns one page, in a bounded number of steps however many feeds there
are.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.articles.query import ArticleFilter as WantedArticles
from feedcrawl.domain.cadence.tempo import entries_per_day
from feedcrawl.domain.cadence.values import DAY_SEC
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.dead_letters import read_dead_letter
from feedcrawl.domain.operations.counters import SPANS, Bar, bars, total
from feedcrawl.domain.subscriptions.records import load_subscription
from feedcrawl.domain.subscriptions.sorting import ordered
from feedcrawl.services.subscriptions import finding
from feedcrawl.store.frontier.dead_letters import PAGE
from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.entries.records import EntryRecord
    from feedcrawl.domain.frontier.dead_letters import DeadLetter, DeadLetterFilter
    from feedcrawl.domain.frontier.statistics import FrontierStatistics, HostStatistics
    from feedcrawl.domain.frontier.tasks import History, Task
    from feedcrawl.domain.push.leases import HubSubscription
    from feedcrawl.domain.subscriptions.published import JournalLineRecord
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.domain.subscriptions.sorting import Column
    from feedcrawl.services.articles.catalogue import Catalogue
    from feedcrawl.store.disk.ndjson import NdjsonFile
    from feedcrawl.store.frontier.dead_letters import DeadLetters
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.operations.series import Series
    from feedcrawl.store.push.websub import HubSubscriptions
    from feedcrawl.store.redis.client import Client
    from feedcrawl.store.subscriptions.entries import Entries
    from feedcrawl.store.subscriptions.registry import Registry

TOP: Final = 10
SAMPLE: Final = 300
"""The most feeds whose interval is plotted against their rate: a random sample if there are more."""
FEEDS_A_PAGE: Final = 50
MAX_FEEDS_READ: Final = 20_000
"""The most feeds that one page of the feed list reads."""
SORTED_AT_MOST: Final = 5_000
"""The most feeds that are sorted by another column than their URL, which requires all of their records."""
PARTS: Final = 100
TASKS_A_PART: Final = 100
"""The most parts of the frontier that a page of tasks reads, and the keys in each part: a page shows no more
tasks of one part.
"""
HOST_PARTS: Final = 20
"""Parts of a thousand keys that are read to find the hosts with most work."""
LETTERS_A_PAGE: Final = 50
LETTER_PAGES: Final = 20
"""The most pages of the dead-letter list that one page of the dashboard reads."""
LINE_BYTES: Final = 16 << 20
"""The number of latest bytes on the disk that are searched for an article's versions, or a feed's entries."""

_PLAIN: Final = re.compile(r'\{"id":"([^"\\]+)","url":"[a-z]+://([^"\\]+)"')
"""The start of a line of `subscription.dump`: listing all feeds by URL need not read the rest of each line."""


@dataclass(frozen=True, slots=True)
class Paced:
    """A feed's interval in seconds, and its learnt rate of new entries per day."""

    feed: Feed
    interval_sec: float
    per_day: float


@dataclass(frozen=True, slots=True)
class Overview:
    """The first page. `bars` belong to the parts of a span, `whole` is their sum; `news` and `hosts` are the
    first of their lists.
    """

    bars: Sequence[Bar]
    whole: Bar
    feeds: int
    failing: int
    statistics: FrontierStatistics
    dead_letters: int
    news: Sequence[tuple[Feed, int]]
    hosts: Sequence[tuple[str, int]]
    circuits: Sequence[HostStatistics]
    paced: Sequence[Paced]


@dataclass(frozen=True, slots=True)
class FeedQuery:
    """A filter of feeds, whose conditions must all hold, and their order (`down`: the greatest first)."""

    text: str = ""
    """A part of URL, title or category."""
    category: str = ""
    failing: bool = False
    sort: Column = "feed"
    down: bool = False


@dataclass(frozen=True, slots=True)
class FeedList:
    """A page of feeds: the number that match, the number of all feeds, and whether all were read."""

    feeds: Sequence[Feed]
    meant: int
    subscribed: int
    whole: bool


@dataclass(frozen=True, slots=True)
class FeedPage:
    """A feed with all stored facts about it."""

    feed: Feed
    journal: Sequence[JournalLineRecord]
    entries: int
    push: HubSubscription | None
    task: tuple[Task, History] | None
    articles: Sequence[ArticleFields]
    lines: Sequence[EntryRecord]
    """Its latest entries, if they are among this machine's latest lines."""
    per_day: float
    has_migration: bool
    """True if a migration of its entries can be undone."""


@dataclass(frozen=True, slots=True)
class DeadLetterPage:
    """A page of dead letters, the number of all dead letters, and the place before which there may be more (0:
    none).
    """

    dead_letters: Sequence[DeadLetter]
    count: int
    before: int


@dataclass(frozen=True, slots=True)
class Dashboard:
    """The content of the pages. Methods raise StoreUnavailable."""

    client: Client
    frontier: Frontier
    registry: Registry
    entries: Entries
    hub_subscriptions: HubSubscriptions
    series: Series
    dead_letters: DeadLetters
    catalogue: Catalogue
    entry_lines: NdjsonFile[EntryRecord]
    article_lines: NdjsonFile[ArticleFields]
    now: Callable[[], datetime]
    queue: str = keys.CRAWLER_QUEUE

    def overview(self, span: str) -> Overview:
        """The statistics of a span of `counters.SPANS`, and the present state. Raises StoreUnavailable."""
        chosen, now = SPANS[span], self.now().timestamp()
        since, until = chosen.bounds(now)
        found = bars(self.series.slots(since, until), chosen, now)
        counted = self.series.most_news(since, now, TOP)
        feeds = self.registry.load([feed_id for feed_id, _ in counted])
        return Overview(
            bars=found,
            whole=total(found),
            feeds=self.registry.count(),
            failing=self.registry.failing_count(),
            statistics=self.frontier.statistics(),
            dead_letters=self.dead_letters.count(),
            news=[(feeds[feed_id], number) for feed_id, number in counted if feed_id in feeds],
            hosts=self.series.most_failures(since, now, TOP),
            circuits=self.circuits(),
            paced=self.paced(),
        )

    def circuits(self, limit: int = TOP) -> list[HostStatistics]:
        """Hosts whose circuit is not closed, each with its domain; latest change first."""
        return [self.frontier.host(host.name) for host in self.frontier.circuits(limit)]

    def paced(self, limit: int = SAMPLE) -> list[Paced]:
        """Interval and rate of all feeds, or of a random sample; feeds without either are left out."""
        feeds = self.registry.load(self.registry.some(limit)).values()
        found = [Paced(feed, feed.polls.interval_sec or 0.0, rate(feed)) for feed in feeds]
        return [each for each in found if each.interval_sec and each.per_day]

    def feeds(self, query: FeedQuery, *, page: int = 1) -> FeedList:
        """A page of the feeds that match, by URL, or by another column if few enough match; failing feeds without
        another order by their failures in a row, the most first.
        """
        subscribed, at_most = self.registry.count(), SORTED_AT_MOST
        start = (page - 1) * FEEDS_A_PAGE
        if query.failing:
            ids = self.registry.failing(start + FEEDS_A_PAGE if query.sort == "feed" else at_most)
            meant = self.registry.failing_count()
            whole = True
        else:
            urls = sorted(self._urls(query.text.lower(), query.category), reverse=query.down)
            meant, ids = len(urls), [feed_id for _, feed_id in urls]
            whole = subscribed <= MAX_FEEDS_READ
        if query.sort == "feed":
            chosen = ids[start : start + FEEDS_A_PAGE]
            loaded = self.registry.load(chosen)
            return FeedList([loaded[each] for each in chosen if each in loaded], meant, subscribed, whole)
        found = ordered(self.registry.load(ids[:at_most]).values(), query.sort, down=query.down)
        return FeedList(found[start : start + FEEDS_A_PAGE], meant, subscribed, whole and meant <= at_most)

    def _urls(self, text: str, category: str) -> Iterator[tuple[str, str]]:
        """URL (without its scheme) and id of the feeds of a category whose subscription contains a text."""
        looked_at = 0
        written = [json.dumps(each, ensure_ascii=False)[1:-1] for each in (text, category)]
        for _, ids in self.registry.pages(4000):
            for record in self.registry.texts(ids):
                plain = None if text or category else _PLAIN.match(record)
                if plain is not None:
                    yield plain[2], plain[1]
                elif written[0] in record.lower() and written[1] in record:
                    found = load_subscription(record)
                    of_category = not category or category in found.categories
                    named = (found.url, found.title or "", *found.categories)
                    if of_category and any(text in each.lower() for each in named):
                        yield found.url.partition("://")[2], found.id
            looked_at += len(ids)
            if looked_at >= MAX_FEEDS_READ:
                return

    def feed_page(self, feed_id: str) -> FeedPage:
        """One feed; raises Refusal (`feed_unknown`) if there is none of this id, StoreUnavailable,
        DiskUnavailable.
        """
        feed = finding.find(self.registry, feed_id)
        if feed is None:
            raise Refusal("feed_unknown", "there is no feed with this id: it may have been unsubscribed")
        articles = self.catalogue.page(WantedArticles(feed_id=feed.id), self.now(), limit=TOP).articles
        lines = self.entry_lines.recent(f'"feed_id":"{feed.id}"', LINE_BYTES)
        return FeedPage(
            feed,
            self.registry.journal(feed.id),
            self.entries.count(feed.id),
            self.hub_subscriptions.find(feed.id),
            self.frontier.find(f"feed:{feed.id}"),
            articles,
            lines[:TOP],
            rate(feed),
            self.entries.has_migration(feed.id),
        )

    def queued(self) -> int:
        """The number of items that other programs have queued and no worker has taken yet."""
        return int(self.client.llen(self.queue))

    def versions(self, uid: str) -> list[ArticleFields]:
        """The stored versions of an article, newest first, if they are among this machine's latest lines."""
        found = self.article_lines.recent(f'"uid":"{uid}"', LINE_BYTES)
        return list({each["content_hash"]: each for each in reversed(found) if each.get("uid") == uid}.values())[::-1]

    def dead_letter_page(self, conditions: DeadLetterFilter, before: int | None = None) -> DeadLetterPage:
        """A page of the matching dead letters, newest first, from a place in their list backwards."""
        found: list[DeadLetter] = []
        self.frontier.deliver_dead_letters()
        count = self.dead_letters.count()
        end = count if before is None else min(before, count)
        for _ in range(LETTER_PAGES):
            start = max(0, end - PAGE)
            page = self.dead_letters.page(start)[: end - start]
            for at in range(end - 1, start - 1, -1):
                dead_letter = read_dead_letter(page[at - start]) if at - start < len(page) else None
                if dead_letter is not None and conditions.matches(dead_letter):
                    found.append(dead_letter)
                if len(found) == LETTERS_A_PAGE:
                    return DeadLetterPage(found, count, at)
            end = start
            if not end:
                break
        return DeadLetterPage(found, count, end)


def rate(feed: Feed) -> float:
    """The learnt number of new entries per day: from all arrivals, or else from the mean gap; 0 if neither is
    known.
    """
    state = feed.polls.cadence_state
    return entries_per_day(state.arrivals) or (DAY_SEC / state.ewma_sec if state.ewma_sec else 0.0)
