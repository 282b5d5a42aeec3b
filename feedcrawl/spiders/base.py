"""What the spiders share: the request for each kind of task, and what becomes of its answer."""

from __future__ import annotations

import hashlib
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

from scrapy import Request, Spider, signals
from scrapy.exceptions import StopDownload
from scrapy.http import TextResponse

from feedcrawl import wiring
from feedcrawl.domain import extraction, hints
from feedcrawl.domain.conditional import Validators
from feedcrawl.domain.outcome import Outcome, judge
from feedcrawl.domain.reading import read_feed
from feedcrawl.domain.tasks import LANES
from feedcrawl.domain.urls import hostname
from feedcrawl.exceptions import HopElsewhere
from feedcrawl.items import Article, FeedPoll
from feedcrawl.parsing import Done
from feedcrawl.services import polling
from feedcrawl.verdict import Verdicts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from feedcrawl.domain.tasks import Lease
    from feedcrawl.services.leases import Leases
    from feedcrawl.wiring import Wiring

NOT_REDIRECTS = [status for status in range(100, 600) if status not in (301, 302, 303, 307, 308)]
"""Statuses that come to the callback: every answer is judged there, redirects by their own middleware."""
HTML_TYPES = ("text/html", "application/xhtml+xml", "application/xml", "text/xml", "text/plain")
"""Types whose body may be a page; what is none of them is not read. Plain text and XML are judged by their content."""
PARSE_WALL_SEC = 20.0


class FrontierSpider(Spider):
    """A spider whose requests are the frontier's tasks. Subclasses say what they add to it before."""

    lanes: Sequence[str] = LANES
    forever = False

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """The spider with the crawler's wiring."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.wired = wiring.of(crawler)
        crawler.signals.connect(spider.stop_at_type, signals.headers_received)
        return spider

    wired: Wiring

    @cached_property
    def verdicts(self) -> Verdicts:
        """Judges what the outcome middleware does not see."""
        assert self.crawler.stats is not None
        return Verdicts(self.wired.leases, self.crawler.stats, self.wired.now)

    @property
    def leases(self) -> Leases:
        """The leases of this worker."""
        return self.wired.leases

    def prepare(self, leases: Sequence[Lease]) -> None:
        """Loads in one round trip what the requests of a batch need."""
        ids = [lease.task.id.removeprefix("feed:") for lease in leases if lease.task.kind == "feed"]
        self._feeds = self.wired.registry.load(ids)
        uids = [lease.id for lease in leases if lease.task.kind == "article" and not lease.history.again]
        self._owners = self.wired.articles.owners(uids)

    def request_for(self, lease: Lease) -> Request | None:
        """The request of a task; None where there is nothing to ask (the task is then ended here)."""
        build = {"feed": self._feed_request, "article": self._article_request}[lease.task.kind]
        return build(lease)

    def stop_at_type(self, headers: Any, request: Request) -> None:
        """Ends a download whose type is none that we read, before its body."""
        if not request.meta.get("html_only"):
            return
        declared = (headers.get("Content-Type") or b"").split(b";")[0].strip().lower().decode("latin-1")
        if declared and declared not in HTML_TYPES and not declared.endswith("+xml"):
            raise StopDownload(fail=False)

    # --- feeds ---

    def _feed_request(self, lease: Lease) -> Request | None:
        feed = self._feeds.get(lease.id.removeprefix("feed:"))
        if feed is None:  # unsubscribed while its task was under way
            self.leases.done(lease, status="dead", reason="unsubscribed")
            return None
        config, polls = self.wired.config, feed.polls
        meta = {
            "feed": feed,
            "validators": Validators(polls.etag, polls.last_modified),
            "raw": {"feed_id": feed.id, "previous": polls.raw},
            "dont_obey_robotstxt": True,  # a subscription is an operator's word; robots.txt speaks of crawling
            "download_timeout": config.fetch_timeout_sec,
            "download_maxsize": config.max_feed_bytes,
            "handle_httpstatus_list": NOT_REDIRECTS,
            "started": time.monotonic(),
        }
        headers = {"Accept": FEED_ACCEPT}
        url = lease.task.url
        return Request(url, headers=headers, meta=meta, callback=self.parse_feed, errback=self.feed_failed, dont_filter=True)

    async def parse_feed(self, response: Response) -> AsyncIterator[FeedPoll]:
        """One poll: the answer as an item, parsed in a child if there is something new to parse."""
        request = cast("Request", response.request)
        poll = self._poll(request, response.status, _result(request.meta["outcome"]))
        headers = {name.decode("latin-1").lower(): values[-1].decode("latin-1") for name, values in response.headers.items() if values}
        poll.max_age_sec = hints.max_age_sec(headers)
        poll.retry_after_sec = request.meta.get("retry_after_sec")
        poll.validators = Validators.received(response.headers.get("ETag"), response.headers.get("Last-Modified"))
        poll.final_url = response.url
        if poll.result == "fetched":
            poll.body_bytes = len(response.body)
            poll.body_hash = hashlib.sha256(response.body).hexdigest()
            if poll.body_hash == poll.feed.polls.body_hash:
                poll.result = "unchanged"
            else:
                await self._parse_feed(poll, response)
        yield poll

    async def _parse_feed(self, poll: FeedPoll, response: Response) -> None:
        read = await self.wired.parsers.run(
            read_feed,
            response.body,
            url=response.url,
            content_type=_content_type(response),
            feed_id=poll.feed.id,
            wall_sec=PARSE_WALL_SEC,
        )
        if isinstance(read, Done):
            poll.parsed, poll.hints = read.value.parsed, read.value.parsed.hints
            poll.identified = read.value.identified
        else:
            poll.result, poll.detail = read.code, read.detail

    async def feed_failed(self, failure: Failure) -> AsyncIterator[FeedPoll]:
        """A poll without an answer; one that was redirected to another host goes on there."""
        request = cast("Request", failure.request)  # type: ignore[attr-defined]
        outcome = self.verdicts.failed(request, failure.value)
        if self._went_elsewhere(request, failure) or self._postponed(request):
            return
        poll = self._poll(request, None, outcome.reason)
        poll.detail = failure.getErrorMessage()
        yield poll

    def _poll(self, request: Request, status: int | None, result: str) -> FeedPoll:
        meta = request.meta
        feed = meta["feed"]
        scheduled = feed.polls.next_at or feed.subscription.added_at
        return FeedPoll(
            lease=meta["lease"],
            feed=feed,
            poll_id=f"{feed.id}@{scheduled}",
            at=self.wired.now(),
            status=status,
            result=result,
            fetch_id=meta.get("fetch_id"),
            raw_ref=meta.get("raw_ref"),
            duration_sec=round(time.monotonic() - meta["started"], 3),
            signal=meta.get("signal"),
        )

    # --- articles ---

    def _article_request(self, lease: Lease) -> Request | None:
        owner = self._owners.get(lease.id)
        if owner is not None and owner != lease.id:  # another URL has brought this article already
            self._merge_unfetched(lease)
            return None
        config, history = self.wired.config, lease.history
        again = Validators(history.etag, history.last_modified) if history.again == "edited" else None
        meta = {
            "validators": again,
            "raw": {"uid": lease.id},
            "html_only": True,
            "download_timeout": config.article_timeout_sec,
            "download_maxsize": config.max_article_bytes,
            "handle_httpstatus_list": NOT_REDIRECTS,
            "started": time.monotonic(),
        }
        url = lease.task.url
        headers = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5"}
        self.logger.debug("article_fetching", extra={"url": url})
        return Request(url, headers=headers, meta=meta, callback=self.parse_article, errback=self.article_failed, dont_filter=True)

    def _merge_unfetched(self, lease: Lease) -> None:
        winner = lease.id
        with self.wired.client.pipeline(transaction=False) as pipe:
            self.wired.articles.sighting(pipe, winner, lease.task.url)
            self.wired.articles.attempted(pipe, [lease.id], self.wired.now().timestamp())
            categories = [lease.task.category] if lease.task.category else []
            self.wired.articles.categorize(pipe, winner, categories)
            pipe.execute()
        self.leases.done(lease, status="fetched", reason="already_stored")

    async def parse_article(self, response: Response) -> AsyncIterator[Article]:
        """One page: extracted in a child, or the failure that it is."""
        request = cast("Request", response.request)
        outcome: Outcome = request.meta["outcome"]
        if outcome.kind == "not_modified":
            self.leases.done(request.meta["lease"], reason="not_modified", signal=request.meta.get("signal"))
            return
        if outcome.kind != "fetched":
            for item in self._unfetched(request, outcome, response):
                yield item
            return
        article = self._article(request, response)
        if not isinstance(response, TextResponse) or "download_stopped" in response.flags:
            _refuse(article, "FAIL_BAD_HTML", "unsupported_type", f"Content-Type {response.headers.get('Content-Type')!r}")
        else:
            await self._extract(article, response)
        yield article

    async def _extract(self, article: Article, response: TextResponse) -> None:
        article.html = response.text
        if len(article.html) < self.wired.config.min_html_chars:
            _refuse(article, "FAIL_BAD_HTML", "too_short", f"{len(article.html)} characters")
            return
        outcome = await self.wired.parsers.run(
            extraction.extract,
            article.html,
            url=response.url,
            feed=polling.feed_content(article.lease.task.payload),
            wall_sec=PARSE_WALL_SEC,
        )
        if isinstance(outcome, Done):
            article.extraction = outcome.value
        else:
            code = outcome.code if outcome.code.startswith("FAIL_") else "FAIL_PARSE"
            _refuse(article, code, outcome.code, outcome.detail)

    async def article_failed(self, failure: Failure) -> AsyncIterator[Article]:
        """A page without an answer: given back, retried, or the failure that it ends in."""
        request = cast("Request", failure.request)  # type: ignore[attr-defined]
        self.verdicts.failed(request, failure.value)
        if self._went_elsewhere(request, failure) or self._postponed(request):
            return
        for item in self._unfetched(request, request.meta["outcome"], None, failure.getErrorMessage()):
            yield item

    def _unfetched(
        self, request: Request, outcome: Outcome, response: Response | None, detail: str = ""
    ) -> Iterator[Article]:
        lease: Lease = request.meta["lease"]
        last = lease.history.attempts + 1 >= self.wired.config.max_attempts
        dead = outcome.fate == "dead" or (outcome.fate == "retry" and last)
        ended = False if dead else self._give_back(request, outcome, response) == "dead"
        if dead or ended:
            article = self._article(request, response)
            _refuse(article, outcome.failure or "FAIL_HTTP", outcome.reason, detail)
            article.dead_letter, article.ended = outcome.dead_letter, ended
            yield article

    def _give_back(self, request: Request, outcome: Outcome, response: Response | None) -> str:
        lease: Lease = request.meta["lease"]
        wait = self.wired.config.retry_base_sec * 2**lease.history.attempts
        return self.leases.give_back(
            lease,
            reason=outcome.reason,
            delay_sec=max(wait, request.meta.get("retry_after_sec") or 0),
            counted=outcome.fate == "retry",
            site_wide=outcome.kind == "unreachable",
            http_status=response.status if response is not None else None,
        )

    def _article(self, request: Request, response: Response | None) -> Article:
        validators = None
        if response is not None:
            validators = Validators.received(response.headers.get("ETag"), response.headers.get("Last-Modified"))
        return Article(
            lease=request.meta["lease"],
            url=request.meta["lease"].task.url,
            at=self.wired.now(),
            status="success",
            final_url=response.url if response is not None else None,
            http_status=response.status if response is not None else None,
            content_type=_content_type(response),
            validators=validators,
            fetch_id=request.meta.get("fetch_id"),
        )

    # --- both ---

    def _went_elsewhere(self, request: Request, failure: Failure) -> bool:
        """Hands a task that was redirected to another host back with its new target, so that its rules apply."""
        error = failure.value
        if not isinstance(error, HopElsewhere):
            return False
        lease: Lease = request.meta["lease"]
        hop = error.hop
        payload = {**lease.task.payload, "redirect_chain": [*lease.task.payload.get("redirect_chain", []), *error.chain]}
        if len(payload["redirect_chain"]) > self.wired.config.max_redirects:
            request.meta["outcome"] = judge("too_many_redirects", task_kind=lease.task.kind)
            return False
        patch = {"url": hop.url, "host": hostname(hop.url), "payload": polling.compact(payload)}
        self.leases.give_back(lease, reason="redirected", patch=patch)
        return True

    def _postponed(self, request: Request) -> bool:
        """Returns a task whose turn was nobody's fault to lose, without an attempt."""
        outcome: Outcome = request.meta["outcome"]
        if outcome.kind != "postponed":
            return False
        wait = 60.0 if outcome.reason == "robots_unavailable" else 1.0
        self.leases.give_back(request.meta["lease"], reason=outcome.reason, delay_sec=wait)
        return True


FEED_ACCEPT = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, "
    "application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.5"
)


def _result(outcome: Outcome) -> str:
    return {"fetched": "fetched", "not_modified": "not_modified"}.get(outcome.kind, outcome.reason)


def _refuse(article: Article, code: str, reason: str, detail: str) -> None:
    article.status, article.code, article.reason, article.detail = "failure", code, reason, detail


def _content_type(response: Response | None) -> str | None:
    declared = response.headers.get("Content-Type") if response is not None else None
    return declared.decode("latin-1") if declared else None
