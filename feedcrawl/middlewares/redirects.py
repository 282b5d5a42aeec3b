"""Follows redirects hop by hop (order 600, in place of Scrapy's RedirectMiddleware)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.crawl.chain_cookies import JAR, add_cookies, cookie_records, jar_of, jar_with
from feedcrawl.domain.http.redirects import REDIRECTS, SAFE_HEADERS, Refused, in_words, next_hop
from feedcrawl.exceptions import HopElsewhere, RedirectRefused

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.http.cookies import CookieJar

    from feedcrawl.domain.http.redirects import Hop


class RedirectMiddleware:
    """Turns a redirect response into the request for its target.

    A request without a lease (shell, robots.txt, probes) is followed at once. A request with `meta["lease"]` is
    followed under the same lease if the target is on the same host; otherwise HopElsewhere is raised.
    `meta["redirect_urls"]` and `meta["redirect_statuses"]` list the hops so far. Bodies of redirects are neither
    decoded nor parsed. Cookies that the redirects of a chain set are sent to the hosts that they are for, within this
    chain only, also where the task of the lease carries them to another host: a page behind a redirect that tests for
    cookies is reached, and no session outlives it.

    Scrapy's ways to receive a redirect as a response work: `dont_redirect`, `handle_httpstatus_all`,
    `handle_httpstatus_list`.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads FEEDCRAWL_MAX_REDIRECTS."""
        return cls(crawler.settings.getint("FEEDCRAWL_MAX_REDIRECTS", 5))

    def process_request(self, request: Request) -> None:
        """Adds the cookies that the task carries from redirects of other hosts."""
        carried = request.meta["lease"].task.payload.get("redirect_cookies") if "lease" in request.meta else None
        if carried and JAR not in request.meta:
            add_cookies(request, jar_with(carried))

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """The response unless it redirects, else the next request; raises RedirectRefused or HopElsewhere."""
        if response.status not in REDIRECTS or request.method not in {"GET", "HEAD"} or _is_handled(request, response):
            return response
        chain = (*request.meta.get("redirect_urls", ()), request.url)
        jar = jar_of(request, response)
        before = _stored(jar)
        if jar is not None:
            jar.extract_cookies(response, request)
        fresh = _stored(jar) != before
        location = response.headers.get("Location")
        hop = next_hop(chain, response.status, location, limit=self._limit, fresh=fresh)
        if isinstance(hop, Refused):
            raise RedirectRefused(hop.reason, f"{in_words(hop, chain, location)}{_wants_cookies(jar)}")
        if "lease" in request.meta and not hop.same_host:
            raise HopElsewhere(hop, chain, cookie_records(jar or ()))
        followed = _followed(request, response.status, hop)
        if jar is not None:
            add_cookies(followed, jar)
        return followed


def _stored(jar: CookieJar | None) -> set[tuple[str, str, str, str | None]]:
    return {(each.domain, each.path, each.name, each.value) for each in jar or ()}


def _wants_cookies(jar: CookieJar | None) -> str:
    return "" if jar is None else "; it sets cookies, which are kept for one chain of redirects only"


def _is_handled(request: Request, response: Response) -> bool:
    meta = request.meta
    if meta.get("dont_redirect") or meta.get("handle_httpstatus_all"):
        return True
    return response.status in meta.get("handle_httpstatus_list", ())


def _followed(request: Request, status: int, hop: Hop) -> Request:
    followed = request.replace(url=hop.url)
    followed.meta["redirect_urls"] = [*request.meta.get("redirect_urls", ()), request.url]
    followed.meta["redirect_statuses"] = [*request.meta.get("redirect_statuses", ()), status]
    if not hop.same_host:
        followed.meta.pop("download_slot", None)  # Scrapy has stored the first host's slot here
    if not hop.same_origin:
        kept = {name: request.headers.getlist(name) for name in SAFE_HEADERS if name in request.headers}
        followed = followed.replace(headers=kept, cookies=None)
    return followed
