"""Tasks of kind `article`: one page becomes one item, an article or the failure of its URL."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from scrapy import Request
from scrapy.http import TextResponse

from feedcrawl.crawl import robots_gate
from feedcrawl.crawl.failures import sentence
from feedcrawl.domain.articles.canonical import canonical_url, leads_home
from feedcrawl.domain.extraction import read_article
from feedcrawl.domain.extraction.page import decode
from feedcrawl.domain.extraction.reading import REFRESH
from feedcrawl.domain.http.conditional import Validators
from feedcrawl.domain.http.redirects import header_url
from feedcrawl.domain.urls import hostname, resolve, with_part
from feedcrawl.handlers.base import PARSE_WALL_SEC, TaskHandler, challenge_detail, content_type, limits, tolerated
from feedcrawl.handlers.rendered import Renders
from feedcrawl.items import Article
from feedcrawl.parsing import Done, Failed
from feedcrawl.services.articles import publication
from feedcrawl.services.articles.evidence import feed_content
from feedcrawl.services.articles.tasks import keeps_slash, page_key, part_of, requested_url, uid_of
from feedcrawl.services.sites.sources import selectors_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from feedcrawl.domain.frontier.outcome import Outcome
    from feedcrawl.domain.frontier.payloads import Patch, Payload
    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.models import Extraction
    from feedcrawl.services.articles.media import Prepared

logger = logging.getLogger(__name__)

CONDITIONAL = frozenset({"operator", "queue_again"})
"""Reasons to fetch a page again for which an unchanged page is enough, if its article is stored."""
HEADERS = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5"}


class ArticleTasks(TaskHandler):
    """Requests pages and reads their articles."""

    _owners: dict[str, str]
    _prepared: Prepared
    _stored: set[str]

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._renders = Renders(crawler, self._extract)

    def prepare(self, leases: Sequence[Lease]) -> None:
        """Load the batch's articles that another URL has already brought and that are still stored."""
        self._prepared = self.wired.media.prepare(leases, self.wired.now())
        first = [lease for lease in leases if not lease.history.again]
        uids = {uid for lease in first for uid in (lease.id, _uid_now(lease))}
        owners = self.wired.articles.owners(list(uids))
        again = [lease.id for lease in leases if lease.history.again in CONDITIONAL]
        stored = self._stored = self.wired.articles.stored([*owners, *again])
        self._owners = {uid: owner for uid, owner in owners.items() if uid in stored}

    def request(self, lease: Lease) -> Request | None:
        """The request of a page; None for an article that is already stored under its canonical URL."""
        # The two differ after a redirect to another host.
        for uid in (lease.id,) if _leads_home(lease, lease.task.url) else (lease.id, _uid_now(lease)):
            if self._owners.get(uid, lease.id) != lease.id:
                self.wired.unfetched.merge(lease, uid, self.wired.now())
                return None
        if lease.id in self._prepared.done:
            patch: Patch = {"url": requested_url(lease.task)}
            self.leases.done(lease, status="fetched", reason="already_stored", patch=patch)
            return None
        config = self.wired.config
        meta = {
            "started_at": self.wired.now(),
            "apart": self._prepared.apart.get(lease.id, frozenset()),
            "validators": self._validators(lease),
            "raw": {"uid": lease.id},
            "html_only": True,
            **limits(config.article_timeout_sec, config.max_article_bytes),
        }
        logger.info("article_fetching", extra={"uid": lease.id, "url": lease.task.url})
        return Request(lease.task.url, self.parse, "GET", HEADERS, meta=meta, errback=self.failed, dont_filter=True)

    def _validators(self, lease: Lease) -> Validators | None:
        """The stored validators, if the page comes again and all that its last fetch brought is still stored."""
        again, known = lease.history.again, lease.id in self._stored
        if again == "queue_again":  # its producer waits for the page, or for the event that names the page
            known = known and self.wired.articles.has_page(page_key(requested_url(lease.task)))
        if again != "edited" and not (again in CONDITIONAL and known):
            return None
        return Validators(lease.history.etag, lease.history.last_modified)

    def goes_on(self, request: Request, lease: Lease) -> bool:
        """True if a redirect is followed; False if another URL has already brought its target: the task ends
        here, unfetched.
        """
        uid = uid_of(request.url, keep_trailing_slash=keeps_slash(lease.task), part=part_of(lease.task))
        if lease.history.again or uid == lease.id or _leads_home(lease, request.url):
            return True
        owner = self.wired.articles.owners([uid]).get(uid, lease.id)
        if owner == lease.id:
            return True
        self.wired.unfetched.merge(lease, uid, self.wired.now())
        return False

    async def parse(self, response: Response) -> AsyncIterator[Article]:
        """The article of the page, extracted in a child process, or the failure of its URL."""
        request = cast("Request", response.request)
        outcome: Outcome = request.meta["outcome"]
        if outcome.kind == "not_modified":
            self.wired.repeats.announce_unchanged(request.meta["lease"])
            self.leases.done(request.meta["lease"], reason="not_modified", signal=request.meta.get("signal"))
            return
        if outcome.kind != "fetched":
            for item in self._unfetched(request, outcome, response, challenge_detail(response)):
                yield item
            return
        article = self._article(request, response)
        if challenge := challenge_detail(response):
            _refuse(article, "FAIL_EMPTY", "empty", challenge)
        elif not isinstance(response, TextResponse) or "download_stopped" in response.flags:
            _refuse(article, "FAIL_BAD_HTML", "unsupported_type", f"{article.content_type} is not the type of a page")
        else:
            await self._extract(article, response)
            if article.reason == REFRESH and self._follows_refresh(article, response):
                return
            if not await self._renders.improve(article, response):
                return
            if article.extraction is not None and self._belongs_elsewhere(article, response.url):
                return
        yield article

    async def failed(self, failure: Failure) -> AsyncIterator[Article]:
        """Handle a page that got no response: the task is given back or retried, or the URL ends as a failure."""
        settled = self.settled(failure)
        if settled is not None:
            request, outcome = settled
            for item in self._unfetched(request, outcome, None, sentence(failure.value)):
                yield item

    async def _extract(self, article: Article, response: TextResponse) -> None:
        source = self.wired.sources.of(response.url, article.lease.task.source)
        outcome = await self.read(
            article.lease,
            read_article,
            response.body,
            content_type(response),
            min_chars=self.wired.config.min_html_chars,
            url=with_part(response.url, part_of(article.lease.task)),
            refresh=header_url(response.headers.get("Refresh") or b"") or None,
            rules=selectors_of(source),
            feed=feed_content(article.lease.task.payload, source),
            image_proxy=self.wired.config.image_proxy,
            wall_sec=PARSE_WALL_SEC,
        )
        if isinstance(outcome, Failed):
            text = await self.read(article.lease, decode, response.body, content_type(response))
            article.html = text.value if isinstance(text, Done) else None
            _refuse(article, *publication.failure_of(outcome.code), outcome.detail)
            return
        page = outcome.value
        article.html = page.html
        if page.extraction is not None and _leads_home(article.lease, response.url):
            detail = f"front_page: {article.url} redirects to the front page of its site, {response.url}"
            _refuse(article, "FAIL_EMPTY", "empty", detail)
        elif page.extraction is not None:
            found = replace(page.extraction, notes=(*page.extraction.notes, *tolerated(response)))
            article.extraction = _apart(found, response)
        else:
            _refuse(article, *publication.failure_of(page.code), page.detail)

    def _follows_refresh(self, article: Article, response: Response) -> bool:
        """True if the task goes on to the page to which this page sends its readers."""
        refused = self.follow_refresh(response, article.detail)
        if refused is not None:
            _refuse(article, "FAIL_HTTP", refused, f"a refresh of {response.url} to {article.detail}")
        return refused is None

    def _belongs_elsewhere(self, article: Article, fetched: str) -> bool:
        """True if robots.txt of the canonical URL's host is not known yet; the task then moves to that host.

        An article whose canonical URL robots.txt forbids is not stored, whichever mobile or mirror host served it.
        """
        assert article.extraction is not None
        keep = keeps_slash(article.lease.task)
        canonical = canonical_url(article.url, fetched, article.extraction.canonical_url, keep_trailing_slash=keep)
        if hostname(canonical) == hostname(fetched):
            return False
        allowed = robots_gate.of(self.crawler).known(canonical)
        if allowed is None:
            published = resolve(article.extraction.canonical_url or canonical, fetched)  # not its canonical form
            task = article.lease.task
            chain = [*task.payload.get("redirect_chain", ()), fetched]
            payload: Payload = {**task.payload, "redirect_chain": chain}
            patch: Patch = {"url": published, "host": hostname(published), "payload": payload}
            self.leases.give_back(article.lease, reason="robots_of_canonical", patch=patch)
            return True
        if not allowed:
            article.extraction = None
            _refuse(article, "FAIL_HTTP", "robots_blocked", f"robots.txt forbids its canonical URL {canonical}")
            article.dead_letter = False
        return False

    def _unfetched(
        self, request: Request, outcome: Outcome, response: Response | None, detail: str = ""
    ) -> Iterator[Article]:
        ending = self.ending(request, outcome, response.status if response is not None else None)
        if ending != "given_back":
            article = self._article(request, response)
            _refuse(article, outcome.failure or "FAIL_HTTP", outcome.reason, detail)
            article.dead_letter, article.ended = outcome.dead_letter, ending == "ended"
            yield article

    def _article(self, request: Request, response: Response | None) -> Article:
        lease: Lease = request.meta["lease"]
        url = requested_url(lease.task)
        article = Article(lease, url, self.wired.now(), "success", fetch_id=request.meta.get("fetch_id"))
        article.started_at = request.meta.get("started_at")
        article.outgoing = request.meta.get("outgoing")
        article.http_status = request.meta.get("http_status")
        if response is not None:
            article.final_url, article.http_status = response.url, response.status
            article.content_type = content_type(response)
            article.validators = Validators.received(
                response.headers.get("ETag"), response.headers.get("Last-Modified")
            )
        return article


def _uid_now(lease: Lease) -> str:
    """The uid of the task's present URL, which a redirect to another host may have changed since the task was
    made.
    """
    return uid_of(lease.task.url, keep_trailing_slash=keeps_slash(lease.task), part=part_of(lease.task))


def _leads_home(lease: Lease, url: str) -> bool:
    """True if the task's link into the site of `url` has been redirected to the site's front page, which `url` is."""
    return leads_home([*lease.task.payload.get("redirect_chain", ()), lease.task.url], url)


def _apart(extraction: Extraction, response: TextResponse) -> Extraction:
    """The extraction; without its canonical URL if an operator has undone the merge with that URL's article."""
    request, named = cast("Request", response.request), extraction.canonical_url
    apart: frozenset[str] = request.meta.get("apart", frozenset())
    if named is None or not apart:
        return extraction
    keep = keeps_slash(request.meta["lease"].task)
    there = uid_of(canonical_url(named, named, None, keep_trailing_slash=keep), keep_trailing_slash=keep)
    return replace(extraction, canonical_url=None) if there in apart else extraction


def _refuse(article: Article, code: str, reason: str, detail: str) -> None:
    article.status, article.code, article.reason, article.detail = "failure", code, reason, detail
    article.dead_letter = True
