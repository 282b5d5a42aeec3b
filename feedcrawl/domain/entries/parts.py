"""Entries that are parts of one page: `/notices#a1`, `/notices#a2`; routes of a page that is a program (`#!/a`)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import canonicalize

if TYPE_CHECKING:
    from collections.abc import Iterable


def parts_of(links: Iterable[str | None]) -> dict[str, str]:
    """The fragment of each link that names a part of its page: several of these links differ in the fragment alone.

    A fragment with `=` is a mark of a campaign (`#xtor=RSS-1`) or of a highlight, and names no part. A route (`#!/a`)
    is a part even if no other link has its page.
    """
    pages: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for link in links:
        fragment = (link or "").partition("#")[2].strip()
        page = _page(link) if fragment else None
        if link is not None and page is not None and names_a_place(link):
            pages[page][link] = fragment
    return {
        link: fragment
        for found in pages.values()
        for link, fragment in found.items()
        if len(set(found.values())) > 1 or fragment.startswith("!")
    }


def names_a_place(link: str) -> bool:
    """True if the fragment of a link names a place on its page or a route, and no campaign."""
    fragment = link.partition("#")[2].strip()
    return fragment.startswith("!") or bool(fragment and "=" not in fragment)


def _page(link: str | None) -> str | None:
    try:
        return canonicalize(link) if link else None
    except InvalidUrl:
        return None
