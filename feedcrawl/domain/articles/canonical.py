"""The canonical URL of a page's article: the URL that the page names, the final URL or the requested URL."""

from __future__ import annotations

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import canonicalize, same_site


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
