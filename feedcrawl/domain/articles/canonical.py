"""Which URL a page's article is known by, out of the one asked, the one that answered and the one the page names."""

from __future__ import annotations

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import canonicalize, same_site


def canonical_url(asked: str, final: str, named: str | None, *, keep_trailing_slash: bool = False) -> str:
    """The canonical URL of a page.

    rel=canonical counts if it is of the same registered domain as the page that names it and not a front page: pages
    of other sites must not speak for a URL that they do not own, and a template that names the front page on every
    article would merge them all. Else the URL that answered, else the one asked.
    """
    for url in (named, final, asked):
        if url is None:
            continue
        try:
            canonical = canonicalize(url, base=final or asked, keep_trailing_slash=keep_trailing_slash)
        except InvalidUrl:
            continue
        if url is not named or (same_site(canonical, final) and (not is_front_page(canonical) or is_front_page(final))):
            return canonical
    return canonicalize(asked, keep_trailing_slash=keep_trailing_slash)


def is_front_page(url: str) -> bool:
    """Whether a canonical URL has neither path nor query."""
    return url.partition("://")[2].partition("/")[2] == ""
