"""Judges the response or failure of a leased request and reports it to the frontier once.

Responses and download failures arrive through the outcome middleware. An exception that a middleware raises for a
response (a redirect to another host, a body that cannot be decoded) reaches only the errback, which calls this module
too.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from feedcrawl.crawl.failures import failure_name
from feedcrawl.domain.frontier.outage import OF_OWN_NETWORK
from feedcrawl.domain.frontier.outcome import REDIRECT, fault, judge
from feedcrawl.domain.http.hints import retry_after_sec
from feedcrawl.exceptions import HopElsewhere, RobotsUnavailable, RouteFailed
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from scrapy import Request
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from feedcrawl.domain.frontier.outcome import Outcome
    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.store.frontier.interface import Signal

logger = logging.getLogger(__name__)

UNMODIFIED = 304
VALIDATOR_HEADERS = frozenset({b"If-None-Match", b"If-Modified-Since"})


class Verdicts:
    """Stores `meta["outcome"]` on a request and releases the host's slot with the signal about the host."""

    def __init__(self, leases: Leases, stats: StatsCollector, now: Callable[[], datetime]) -> None:
        self._leases = leases
        self._stats = stats
        self._now = now

    def answered(self, request: Request, response: Response) -> None:
        """Judge a response by its status; a 304 to a request without validators is a failure (`unasked_304`).

        The signal of a 304 is reported by the commit that follows at once (`meta["signal"]`).
        """
        lease = request.meta["lease"]
        self._turned(self._leases.own_network.answered(lease.task.host))
        unasked = response.status == UNMODIFIED and not VALIDATOR_HEADERS.intersection(request.headers)
        outcome = judge("unasked_304" if unasked else response.status, task_kind=lease.task.kind)
        retry_after = response.headers.get("Retry-After")
        wait = retry_after_sec(retry_after.decode("latin-1"), now=self._now()) if retry_after else None
        request.meta["retry_after_sec"] = wait
        if outcome.kind == "not_modified":
            self._note(request, outcome)
            request.meta["signal"] = _signal(outcome)
            return
        self._release(request, outcome, _signal(outcome), wait if response.status in (429, 503) else None)

    def failed(self, request: Request, error: BaseException) -> Outcome:
        """Judge a failure, once; the outcome."""
        if "outcome" in request.meta:
            known: Outcome = request.meta["outcome"]
            return known
        lease = request.meta["lease"]
        kind = lease.task.kind
        cause = error.failure if isinstance(error, RobotsUnavailable) else failure_name(error)
        if isinstance(error, HopElsewhere):
            self._turned(self._leases.own_network.answered(lease.task.host))
            outcome, signal = REDIRECT, _signal(REDIRECT)
        elif self._is_own_outage(lease, cause):
            outcome, signal = judge("own_outage", task_kind=kind), "none"
        elif isinstance(error, RobotsUnavailable):
            outcome = judge("robots_unavailable", task_kind=kind)
            signal = _signal(judge(cause, task_kind=kind))
        else:
            outcome = judge(cause, task_kind=kind)
            signal = "site" if outcome.reason == "circuit_open" else _signal(outcome)
        wait = request.meta["retry_after_sec"] = error.wait_sec if isinstance(error, RouteFailed) else None
        self._release(request, outcome, signal, wait)
        return outcome

    def _is_own_outage(self, lease: Lease, cause: int | str) -> bool:
        """True if an outage of our own network caused the failure. A failed probe is no evidence about our network,
        since its host failed before.
        """
        network = self._leases.own_network
        if cause in OF_OWN_NETWORK and not lease.probe:
            self._turned(network.failed(lease.task, cause))
        return network.since is not None and (cause in OF_OWN_NETWORK or cause == "circuit_open")

    def _turned(self, change: str | None) -> None:
        """Report that our own outage has begun or ended, and take back the failures counted before the outage was
        known.
        """
        if change is None:
            return
        self._stats.inc_value(f"feedcrawl/own_outage/{change}")
        network = self._leases.own_network
        if change == "ended":
            logger.warning("own_outage_over", extra={"hosts": network.requested, "hosts_failing": len(network.failing)})
            return
        logger.warning("own_outage", extra={"hosts": network.requested, "hosts_failing": len(network.failing)})
        try:
            self._leases.forgive(network.failing)
        except StoreUnavailable as error:
            logger.warning("failures_not_forgiven", extra={"reason": error.code})

    def _note(self, request: Request, outcome: Outcome) -> None:
        request.meta["outcome"] = outcome
        self._stats.inc_value(f"feedcrawl/outcome/{outcome.reason or outcome.kind}")
        kind = request.meta["lease"].task.kind
        self._stats.inc_value(f"feedcrawl/fetches/{kind}/{outcome.kind}/{fault(outcome)}")

    def _release(self, request: Request, outcome: Outcome, signal: Signal, wait: float | None) -> None:
        self._note(request, outcome)
        lease = request.meta["lease"]
        try:
            released = self._leases.release(lease, signal, wait_sec=wait)
        except StoreUnavailable as error:
            logger.info("slot_not_released", extra={"url": request.url, "reason": error.code})
            return
        if released.before != released.after != "lost":
            fields = {"host": lease.task.host, "next_turn_sec": round(released.wait_sec, 1)}
            self._circuit("circuit", released.after, fields)
        for change in released.scopes:
            self._circuit(f"{change.kind}_circuit", change.after, {change.kind: change.key})

    def _circuit(self, what: str, state: str, fields: dict[str, object]) -> None:
        self._stats.inc_value(f"feedcrawl/{what}/{state}")
        event = f"{what}_{state}"
        logger.log(logging.WARNING if state == "open" else logging.INFO, event, extra=fields)


def _signal(outcome: Outcome) -> Signal:
    """The signal of a response about its host: a refusal (4xx) shows that the host is alive, but is no success."""
    if outcome.signal == "ok" and outcome.kind not in ("fetched", "not_modified", "redirect"):
        return "answered"
    return outcome.signal or "none"
