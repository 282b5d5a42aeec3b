"""How a request of ours, or an item, may end besides Scrapy's own exceptions.

Those of requests are IgnoreRequest, so that Scrapy neither retries nor reports them as errors of the downloader;
`reason` is the code that reaches log, metric and journal unchanged.
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
    """The task of an item is in another worker's hands, who does the same; nothing more of this one may be seen."""

    def __init__(self, lease: Lease) -> None:
        super().__init__(f"lease_lost: {lease.task.url} is in another worker's hands")


class AddressRefused(IgnoreRequest):
    """A request that would have left the public Internet, or was not for a web server. Final: never retried, no
    failure of the host. `detail` says what was refused.
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
    """robots.txt forbids the URL, or its failure does after the grace."""

    reason = "robots_blocked"


class RobotsUnavailable(IgnoreRequest):
    """robots.txt cannot be had now; the page waits. `failure` is what the fetch of it ended in, status or name."""

    reason = "robots_unavailable"

    def __init__(self, failure: int | str) -> None:
        super().__init__(f"{self.reason}: {failure}")
        self.failure = failure


class CircuitOpen(IgnoreRequest):
    """The probe of a half-open circuit failed: the host is still away."""

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
    """robots.txt leads to another host, whose turn is waited for: meanwhile the page gives back its own.

    `url` is what is asked next, `chain` what was asked so far.
    """

    reason = "robots_elsewhere"

    def __init__(self, url: str, chain: tuple[str, ...] = ()) -> None:
        super().__init__(f"{self.reason}: {url}")
        self.url = url
        self.chain = chain


class CrawlDelayLearned(IgnoreRequest):
    """robots.txt has just asked for a longer delay than this turn was given, or has used it up and the next one is far:
    the page waits for that.
    """

    reason = "crawl_delay"
