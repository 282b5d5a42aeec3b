"""Base of the handlers: judges failures, and gives back tasks that failed through no fault of their own."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, Any, Literal, Required, TypedDict, TypeVar, cast

from scrapy.http import Headers

from feedcrawl import wiring
from feedcrawl.crawl.chain_cookies import cookies_of
from feedcrawl.crawl.verdict import Verdicts
from feedcrawl.domain.entries.reading import How, read_feed
from feedcrawl.domain.extraction.reading import REFRESH
from feedcrawl.domain.extraction.walls.headers import CHALLENGE_HEADERS, declared_challenge
from feedcrawl.domain.frontier.outcome import PAUSES_SEC, judge, retry_wait_sec
from feedcrawl.domain.http.conditional import Validators
from feedcrawl.domain.http.hints import OF_FRESHNESS, max_age_sec
from feedcrawl.exceptions import HopElsewhere
from feedcrawl.parsing import Failed
from feedcrawl.services.articles.tasks import at_target
from feedcrawl.store.disk.files import DiskUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from feedcrawl.domain.entries.reading import FeedReading
    from feedcrawl.domain.frontier.outcome import Outcome
    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.subscriptions.access import Access
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.items import FeedRequested
    from feedcrawl.parsing import Done
    from feedcrawl.store.disk.raw_index import RawRef
    from feedcrawl.store.frontier.interface import Returned, Signal

T = TypeVar("T")

_FRESHNESS = tuple((name, Headers().normkey(name)) for name in OF_FRESHNESS)

NOT_REDIRECTS = [status for status in range(100, 600) if status not in (301, 302, 303, 307, 308)]
"""Statuses that are passed to the callback: the handler judges every response except redirects, which a
middleware follows.
"""
FEED_HEADERS = {
    "Accept": "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, "
    "application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.5"
}
PARSE_WALL_SEC = 20.0
PAUSE_SEC = 86_400.0
"""Seconds between two looks at a paused feed."""
UNAUTHORIZED = 401
PERMANENT = frozenset({301, 308})


class TaskHandler:
    """Base of the handlers."""

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.stats is not None
        self.crawler = crawler
        self.wired = wiring.of(crawler)
        self.leases = self.wired.leases
        self.stats = crawler.stats
        self.verdicts = Verdicts(self.leases, crawler.stats, self.wired.now)

    def goes_on(self, request: Request, lease: Lease) -> bool:  # noqa: ARG002 - for subclasses
        """True if a redirect on the same host is followed."""
        return True

    async def read(self, lease: Lease, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> Done[T] | Failed:
        """The document as a child process reads it, recorded as a step of its task."""
        with self.wired.tracer.span("parse", lease, function=function.__name__):
            read = await self.wired.parsers.run(function, *args, **kwargs)
            failed = read.code if isinstance(read, Failed) else None
            self.wired.tracer.note(None, child_sec=round(read.seconds, 6), failed=failed)
        return read

    async def read_document(self, requested: FeedRequested, response: Response, how: How) -> Done[FeedReading] | Failed:
        """A feed or an archive document, as a child process reads it."""
        return await self.read(
            requested.lease,
            read_feed,
            response.body,
            url=response.url,
            content_type=content_type(response),
            feed_id=requested.feed.id,
            how=how,
            wall_sec=PARSE_WALL_SEC,
        )

    def feed_headers(self, lease: Lease, feed: Feed, access: Access | None, meta: dict[str, object]) -> dict[str, str]:
        """The headers of a request of a feed's document, with its user agent, and at its origin its private headers.

        `meta["private"]` gets the names of the private headers, whose values the archive leaves out.
        """
        chain = lease.task.payload.get("redirect_chain", ())
        private = access.headers_for(lease.task.url, chain) if access is not None else {}
        headers = FEED_HEADERS | private
        if feed.subscription.user_agent:
            headers["User-Agent"] = feed.subscription.user_agent
        if private:
            meta["private"] = frozenset(name.lower().encode() for name in private)
        return headers

    def how(self, feed: Feed, known: str | None = None) -> How:
        """The options of reading a document of this feed."""
        own = feed.subscription
        redact = self.wired.config.redact_emails
        return How(known=known, redact_emails=redact, keep_rules=own.keep_rules, drop_rules=own.drop_rules)

    def polled(self, lease: Lease, feed: Feed | None) -> Feed | None:
        """The feed, if it is to be requested. The task of a feed that was unsubscribed meanwhile ends; that of a paused
        feed is put off, until resuming the feed makes it due.
        """
        if feed is None:
            self.leases.done(lease, status="dead", reason="unsubscribed")
        elif feed.subscription.paused:
            self.leases.done(lease, status="pending", reason="paused", delay_sec=PAUSE_SEC)
            self.skipped(lease, feed, "paused", PAUSE_SEC)
        else:
            return feed
        return None

    def settled(self, failure: Failure) -> tuple[Request, Outcome] | None:
        """The failed request and its outcome; None if the task was redirected or given back, and nothing is left to do.

        DiskUnavailable is raised again: its handler gives the task back, and the run has failed.
        """
        request, error = cast("Request", failure.request), failure.value  # type: ignore[attr-defined]
        assert error is not None
        outcome = self.verdicts.failed(request, error)
        if isinstance(error, DiskUnavailable):
            raise error
        if isinstance(error, HopElsewhere):
            return self._elsewhere(request, error)
        if outcome.kind == "postponed":
            wait = max(PAUSES_SEC.get(outcome.reason, 1.0), request.meta.get("retry_after_sec") or 0)
            self.leases.give_back(request.meta["lease"], reason=outcome.reason, delay_sec=wait)
            self.skipped(request.meta["lease"], request.meta.get("feed"), outcome.reason, wait)
            return None
        return request, outcome

    def skipped(self, lease: Lease, feed: Feed | None, reason: str, wait_sec: float) -> None:
        """Called for a task (of a feed) that was put off, through no fault of its URL."""

    def give_back(self, request: Request, outcome: Outcome, http_status: int | None) -> Returned:
        """Return a task to the frontier for a later attempt: after a wait that doubles, or after the server's
        Retry-After if that is longer.
        """
        lease: Lease = request.meta["lease"]
        if outcome.fate == "retry":
            self.stats.inc_value("feedcrawl/retries")
        wait = retry_wait_sec(self.wired.config.retry_base_sec, lease.history.attempts)
        return self.leases.give_back(
            lease,
            reason=outcome.reason,
            delay_sec=max(wait, request.meta.get("retry_after_sec") or 0),
            counted=outcome.fate == "retry",
            site_wide=outcome.kind == "unreachable",
            http_status=http_status,
        )

    def is_final(self, request: Request, outcome: Outcome) -> bool:
        """True if a failed task is not tried again: its failure is permanent, or this was its last attempt."""
        attempts = request.meta["lease"].history.attempts + 1
        return outcome.fate == "dead" or (outcome.fate == "retry" and attempts >= self.wired.config.max_attempts)

    def ending(
        self, request: Request, outcome: Outcome, http_status: int | None
    ) -> Literal["dead", "ended", "given_back"]:
        """The end of a task that brought nothing: `dead` (the caller must end the task), `ended` (already ended)
        or `given_back`.
        """
        if self.is_final(request, outcome):
            return "dead"
        return "ended" if self.give_back(request, outcome, http_status) == "dead" else "given_back"

    def follow_refresh(self, response: Response, target: str) -> str | None:
        """Follow the refresh of a page (domain/http/refresh.py) as a temporary redirect; the reason if it is not.

        None: the task has gone back to the frontier with its new target.
        """
        request = cast("Request", response.request)
        lease: Lease = request.meta["lease"]
        chain = [*request.meta.get("redirect_urls", ()), response.url]
        if target in {*chain, *lease.task.payload.get("redirect_chain", ())}:
            return "redirect_loop"
        limit = self.wired.config.max_redirects
        task = at_target(lease.task, target, self.wired.sources)
        cookies = cookies_of(request, response)
        followed = self.leases.redirect(lease, target, chain, limit=limit, reason=REFRESH, task=task, cookies=cookies)
        return None if followed else "too_many_redirects"

    def _elsewhere(self, request: Request, error: HopElsewhere) -> tuple[Request, Outcome] | None:
        """Give back a task that was redirected to another host, with its new target, so that the rules of that
        host apply.
        """
        lease: Lease = request.meta["lease"]
        permanent = error.hop.permanent and lasts(request)
        limit = self.wired.config.max_redirects
        task = at_target(lease.task, error.hop.url, self.wired.sources)
        url, chain = error.hop.url, error.chain
        if self.leases.redirect(lease, url, chain, limit=limit, permanent=permanent, task=task, cookies=error.cookies):
            return None
        return request, judge("too_many_redirects", task_kind=lease.task.kind)


def lasts(request: Request) -> bool:
    """True if every redirect that led to the request was permanent, also if there was none."""
    payload = request.meta["lease"].task.payload
    return not payload.get("temporary") and set(request.meta.get("redirect_statuses", ())) <= PERMANENT


def was_redirected(request: Request) -> bool:
    """True if the request was redirected, on its host or from another host."""
    return "redirect_urls" in request.meta or "redirect_chain" in request.meta["lease"].task.payload


def result_of(outcome: Outcome) -> str:
    """The result of a poll as written to the journal."""
    return outcome.kind if outcome.kind in ("fetched", "not_modified") else outcome.reason


def limits(timeout_sec: float, max_bytes: int) -> dict[str, object]:
    """The part of a request's `meta` that bounds the request, with the time at which it begins."""
    return {
        "download_timeout": timeout_sec,
        "download_maxsize": max_bytes,
        "handle_httpstatus_list": NOT_REDIRECTS,
        "started": time.monotonic(),
    }


class Transfer(TypedDict, total=False):
    """Fields of `Received`."""

    at: Required[datetime]
    status: Required[int | None]
    result: Required[str]
    validators: Validators
    body_hash: str
    body_bytes: int
    wire_bytes: int
    retry_after_sec: float | None
    max_age_sec: float | None
    duration_sec: float
    outgoing: str | None
    signal: Signal | None


class Archived(TypedDict):
    """Fields of `FeedReceived` that name the response in the archive of raw bodies."""

    fetch_id: str | None
    raw_ref: RawRef | None


def archived(request: Request) -> Archived:
    """The response of a request in the archive of raw bodies, if it was captured."""
    return {"fetch_id": request.meta.get("fetch_id"), "raw_ref": request.meta.get("raw_ref")}


def transfer_of(request: Request, result: str, at: datetime, response: Response | None = None) -> Transfer:
    """The part of a poll's response that does not depend on its document; the body counts only if it is used.

    The headers are those that govern later polls: how long the response is fresh, its validators, and Retry-After.
    """
    meta = request.meta
    transfer: Transfer = {
        "at": at,
        "status": meta.get("http_status") if response is None else response.status,
        "result": result,
        "duration_sec": round(time.monotonic() - meta["started"], 3),
        "outgoing": meta.get("outgoing"),
        "wire_bytes": meta.get("wire_bytes", 0),
        "signal": meta.get("signal"),
    }
    if response is None:
        return transfer
    headers = response.headers
    fresh = ((name, _last(headers, key)) for name, key in _FRESHNESS)
    transfer["max_age_sec"] = max_age_sec({name: value.decode("latin-1") for name, value in fresh if value is not None})
    transfer["retry_after_sec"] = meta.get("retry_after_sec")
    transfer["validators"] = Validators.received(_last(headers, b"Etag"), _last(headers, b"Last-Modified"))
    if result == "fetched":
        transfer["body_bytes"] = len(response.body)
        transfer["body_hash"] = hashlib.sha256(response.body).hexdigest()
    return transfer


def _last(headers: Headers, key: bytes) -> bytes | None:
    """The last value of a field by its key in `headers` (`Etag`), which Headers.get would make of each name again."""
    values: list[bytes] | None = dict.get(headers, key)
    return values[-1] if values else None


def tolerated(response: Response) -> tuple[str, ...]:
    """The notes on the transfer of a response: `transfer_incomplete` if only the document in the body is complete."""
    return ("transfer_incomplete",) if "dataloss" in response.flags else ()


def auth_scheme(response: Response) -> str | None:
    """The scheme that a response 401 names first (RFC 9110 section 11.6.1)."""
    challenge = (response.headers.get("WWW-Authenticate") or b"").split()
    return challenge[0].decode("latin-1")[:40] if challenge else None


def challenge_detail(response: Response | None) -> str:
    """The detail of a failure whose response is declared a challenge by its headers; empty for other responses."""
    headers = response.headers if response is not None else {}
    found = ((name, headers.get(name)) for name in CHALLENGE_HEADERS)
    return declared_challenge({name: value.decode("latin-1") for name, value in found if value is not None})


def content_type(response: Response | None) -> str | None:
    """The Content-Type of a response; None if there is none."""
    declared = response.headers.get("Content-Type") if response is not None else None
    return declared.decode("latin-1") if declared else None
