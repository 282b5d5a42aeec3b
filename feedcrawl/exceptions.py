"""Exceptions that end a request or an item, besides Scrapy's own.

The exceptions of requests are IgnoreRequest, so that Scrapy neither retries nor reports them as errors of the
downloader; `reason` is the code that reaches log, metric and journal unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import DropItem, IgnoreRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.domain.frontier.payloads import CookieRecord
    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.http.redirects import Hop


class LeaseLost(DropItem):
    """Another worker holds the task of an item and repeats its work; this item must not be published."""

    def __init__(self, lease: Lease) -> None:
        super().__init__(f"lease_lost: another worker holds the task of {lease.task.url}")


class AddressRefused(IgnoreRequest):
    """A request to an address that is not public, or to a port that is no web server's.

    Never retried, and no failure of the host. `detail` names the refused URL, host or address.
    """

    reason = "address_refused"

    def __init__(self, detail: str) -> None:
        super().__init__(f"{self.reason}: {detail}")
        self.detail = detail


class RedirectRefused(IgnoreRequest):
    """A redirect that is not followed; `reason` as in `domain/http/redirects.py`."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class HopElsewhere(IgnoreRequest):
    """A leased request was redirected to another host, where it has no turn: the task goes back with its new target.

    `chain` are the URLs requested so far, in their order; `cookies` those that the
    redirects have set.
    """

    reason = "redirected"

    def __init__(self, hop: Hop, chain: tuple[str, ...], cookies: Sequence[CookieRecord] = ()) -> None:
        super().__init__(f"{self.reason}: to {hop.url}")
        self.hop = hop
        self.chain = chain
        self.cookies = cookies


class BodyRefused(IgnoreRequest):
    """A body that cannot be used; `reason` is `bad_encoding`, `too_large` or `protocol`."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class RobotsBlocked(IgnoreRequest):
    """robots.txt forbids the URL, or has failed beyond the grace period while FEEDCRAWL_ROBOTS_ON_ERROR is disallow."""

    reason = "robots_blocked"


class RobotsUnavailable(IgnoreRequest):
    """robots.txt cannot be fetched now; the page waits. `failure`: the HTTP status, or the name of the failure."""

    reason = "robots_unavailable"

    def __init__(self, failure: int | str) -> None:
        super().__init__(f"{self.reason}: {failure}")
        self.failure = failure


class CircuitOpen(IgnoreRequest):
    """The probe of a half-open circuit failed: the host still does not respond."""

    reason = "circuit_open"


class RouteFailed(IgnoreRequest):
    """A request that could not leave by the route of its source. `reason`: `proxy_failed`, `proxy_refused` (the proxy
    does not serve this target), `route_down` (the circuits of all routes are open: nothing was tried) or `bind_failed`
    (the local address cannot be used). `wait_sec` is the time until the first route is tried again.
    """

    def __init__(self, reason: str, detail: str, wait_sec: float | None = None) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.wait_sec = wait_sec


class TunnelFailed(OSError):
    """A proxy that works could not reach the target; `reason` is the failure of the target: `refused`, `unreachable`
    or `connect_timeout`.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason


class RobotsElsewhere(IgnoreRequest):
    """robots.txt redirects to another host: the page gives its turn back while that host's turn is awaited.

    `url` is the next URL to request, `chain` the URLs requested so far.
    """

    reason = "robots_elsewhere"

    def __init__(self, url: str, chain: tuple[str, ...] = ()) -> None:
        super().__init__(f"{self.reason}: {url}")
        self.url = url
        self.chain = chain


class CrawlDelayLearned(IgnoreRequest):
    """The page waits for a later turn of its host.

    Either robots.txt states a longer delay than this turn kept, or fetching robots.txt used this turn and the next one
    is far away.
    """

    reason = "crawl_delay"
