"""The canonical URL of a page's article: the URL that the page names, the final URL or the requested URL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import canonicalize, hostname, same_site

if TYPE_CHECKING:
    from collections.abc import Sequence

_FRONT_PATH = re.compile(
    r"/(?:[a-z]{2}(?:[-_][a-z]{2,4})?(?:/|$))?(?:(?:index|default|home)(?:\.[a-z]{2,5})?)?/?", re.IGNORECASE
)
"""Paths of front pages: the root, that of a language (`/en/`, `/pt_BR`), and the usual names of the file there."""
_NUMBERED = re.compile(r"=\d+(?:&|$)")
_FRONT_LABEL = re.compile(r"(?:www|m|mobile|amp)\.")


def canonical_url(requested: str, final: str, named: str | None, *, keep_trailing_slash: bool = False) -> str:
    """The canonical URL of a page.

    rel=canonical counts if it has the registered domain of the page and is no front page: a page must not claim a URL
    of another site, and a template that names the front page in every article would merge all of them. Otherwise
    the final URL counts, else the requested URL.
    """
    for url in (named, final, requested):
        if url is None:
            continue
        try:
            canonical = canonicalize(url, base=final or requested, keep_trailing_slash=keep_trailing_slash)
        except InvalidUrl:
            continue
        if url is not named or (same_site(canonical, final) and (not is_front_page(canonical) or is_front_page(final))):
            return canonical
    return canonicalize(requested, keep_trailing_slash=keep_trailing_slash)


def is_front_page(url: str) -> bool:
    """True if a canonical URL has neither path nor query."""
    return url.partition("://")[2].partition("/")[2] == ""


def leads_home(chain: Sequence[str], final: str) -> bool:
    """True if a link into a site has ended at the site's front page, as the links of removed articles do.

    `chain` has the URLs requested before, in their order; `final` is the URL of the response. The link is the first URL
    of the chain whose host is the front page's host or below it: URLs of redirectors come before it, detours for
    cookies or consent after it. A front page that was linked is no removed article, nor is a front page with a query,
    or the root of a host to which pages of its parent have moved.
    """
    front = urlsplit(canonicalize(final))
    if front.query or not _FRONT_PATH.fullmatch(front.path):
        return False
    home = _FRONT_LABEL.sub("", hostname(final), count=1)
    linked = next((url for url in chain if f".{hostname(url)}".endswith(f".{home}")), final)
    parts = urlsplit(canonicalize(linked))
    return not _FRONT_PATH.fullmatch(parts.path) or bool(_NUMBERED.search(parts.query))
