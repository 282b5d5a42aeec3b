"""Cookies that the redirects of one chain set: sent to the hosts that they are for, and gone with the chain.

Within a host the jar travels in `meta`; to another host the task carries the cookies in its payload.
"""

from __future__ import annotations

from http.cookiejar import Cookie, DefaultCookiePolicy
from typing import TYPE_CHECKING, Final

from scrapy.http.cookies import CookieJar

from feedcrawl.domain.frontier.payloads import CookieRecord

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.http import Response

JAR, ADDED = "redirect_cookies", "redirect_cookies_sent"
"""Keys of `meta`: the cookies of a chain of redirects, and whether the Cookie header was made from them."""


MAX_COOKIES: Final = 20
MAX_COOKIE_BYTES: Final = 4096
"""Bytes of all cookies that a task carries: as many as one cookie may have (RFC 6265 section 6.1)."""


def cookie_records(cookies: Iterable[Cookie]) -> list[CookieRecord]:
    """The cookies that a task carries; those beyond the bounds are left out."""
    found: list[CookieRecord] = []
    size = 0
    for each in cookies:
        size += len(each.name) + len(each.value or "") + len(each.domain) + len(each.path)
        if len(found) == MAX_COOKIES or size > MAX_COOKIE_BYTES:
            break
        host_only = not each.domain_specified
        found.append(
            CookieRecord(
                name=each.name,
                value=each.value,
                domain=each.domain,
                host_only=host_only,
                path=each.path,
                secure=each.secure,
                expires=each.expires,
            )
        )
    return found


def cookie_of(record: CookieRecord) -> Cookie:
    """The cookie of a record."""
    named = not record["host_only"]
    return Cookie(
        version=0,
        name=record["name"],
        value=record["value"],
        port=None,
        port_specified=False,
        domain=record["domain"],
        domain_specified=named,
        domain_initial_dot=named,
        path=record["path"],
        path_specified=True,
        secure=record["secure"],
        expires=record["expires"],
        discard=record["expires"] is None,
        comment=None,
        comment_url=None,
        rest={},
    )


def jar_with(records: Iterable[CookieRecord]) -> CookieJar:
    """A jar with the cookies that a task carries."""
    jar = _empty_jar()
    for record in records:
        jar.set_cookie(cookie_of(record))
    return jar


def jar_of(request: Request, response: Response) -> CookieJar | None:
    """The cookies of this chain of redirects; None if it has set none."""
    jar: CookieJar | None = request.meta.get(JAR)
    if jar is not None or "Set-Cookie" not in response.headers:
        return jar
    return _empty_jar()


def _empty_jar() -> CookieJar:
    # A cookie without a Domain is for its host alone (RFC 6265 section 5.3).
    return CookieJar(DefaultCookiePolicy(strict_ns_domain=DefaultCookiePolicy.DomainStrictNonDomain))


def cookies_of(request: Request, response: Response) -> list[CookieRecord]:
    """The cookies of a chain of redirects that a response continues by other means than its status."""
    jar = jar_of(request, response)
    if jar is None:
        return []
    jar.extract_cookies(response, request)
    return cookie_records(jar)


def add_cookies(request: Request, jar: CookieJar) -> None:
    """Gives a request the cookies of its chain, unless it has a Cookie header of its own."""
    if request.meta.pop(ADDED, False):
        request.headers.pop("Cookie", None)
    if "Cookie" not in request.headers:
        jar.add_cookie_header(request)
        request.meta[ADDED] = "Cookie" in request.headers
    request.meta[JAR] = jar
