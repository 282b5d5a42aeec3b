"""Ends the task (last step), after everything else is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from feedcrawl import wiring
from feedcrawl.exceptions import LeaseLost
from feedcrawl.items import Article, FeedPoll
from feedcrawl.services.articles.ending import ArticleEnd
from feedcrawl.services.subscriptions.ending import PollEnd
from feedcrawl.telemetry.tracing import traced

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.telemetry.tracing import Tracer


class CommitPipeline:
    """Ends the tasks of polls and articles. Under a lost lease nothing changes: the new owner repeats the work."""

    def __init__(self, polls: PollEnd, articles: ArticleEnd, *, leases: Leases, tracer: Tracer) -> None:
        self._polls = polls
        self._articles = articles
        self._leases = leases
        self._tracer = tracer

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shares the crawler's stores; counts in the crawler's stats."""
        assert crawler.stats is not None
        wired, count = wiring.of(crawler), crawler.stats.inc_value
        leases, tracer, series = wired.leases, wired.tracer, wired.series
        polls = PollEnd(leases, wired.registry, series, wired.websub, wired.tempo, tracer, count)
        return cls(polls, ArticleEnd(leases, series, tracer, count), leases=leases, tracer=tracer)

    @traced("commit")
    async def process_item(self, item: object) -> object:
        """The item, its task ended or rescheduled; raises LeaseLost."""
        if isinstance(item, (FeedPoll, Article)):
            ended = await (self._polls.end(item) if isinstance(item, FeedPoll) else self._articles.end(item))
            if not ended:
                raise LeaseLost(item.lease)
        return item

    def close_spider(self) -> None:
        """Closes the leases: no task ends after this."""
        self._leases.close()
