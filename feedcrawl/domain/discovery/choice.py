"""The choice among the feeds of a page: addresses to try, comment feeds, and repeats of the same feed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from feedcrawl.domain import feeds
from feedcrawl.domain.discovery.links import COMMON_PATHS
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import canonicalize, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from feedcrawl.domain.models import FeedLink, ParsedEntry

MAX_PLACES: Final = 20  # addresses tried for one page
COMPARED: Final = 20  # entries compared, the first of each feed

_COMMENTS_URL = re.compile(r"/comments?(?:[/._-]|\Z)|[?&](?:feed|type)=comments", re.IGNORECASE)
_COMMENTS_TITLE = re.compile(
    r"\b(?:comments?|kommentare?|commentaires?|comentarios?|comentários?|commenti|reacties|kommentarer|komentarze)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A feed that was found. `names`: links of its first entries; ids or titles of entries without link."""

    url: str
    title: str | None = None
    entries: int = 0
    names: tuple[str, ...] = ()


def read_candidate(body: bytes, *, url: str, content_type: str | None) -> Candidate:
    """The feed in a document; called in a child process. Raises NotAFeed, as `feeds.parse` does."""
    parsed = feeds.parse(body, url=url, content_type=content_type)
    names = tuple(map(_name, parsed.entries[:COMPARED]))
    return Candidate(url, parsed.title, len(parsed.entries), names)


def places(found: Iterable[FeedLink], page: str) -> tuple[str, ...]:
    """The addresses to try, in the order of a page's links, comment feeds last; the page itself is left out."""
    ordered = sorted(found, key=lambda link: is_comments(link.url, link.title))
    return tuple(dict.fromkeys(link.url for link in ordered if link.url != page))[:MAX_PLACES]


def guesses(page: str) -> tuple[str, ...]:
    """Common addresses of feeds but the page itself, for a page that announces none: below the page, then below its
    site.
    """
    under = [page] if urlsplit(page).path.strip("/") else []
    found = [_below(base, path) for base in under for path in COMMON_PATHS[:5]]
    found += [resolve(path, page) for path in COMMON_PATHS]
    return tuple(dict.fromkeys(address for address in found if address not in ("", page)))


def is_comments(url: str, title: str | None) -> bool:
    """True if the URL or title shows a feed of readers' comments."""
    return bool(_COMMENTS_URL.search(url) or _COMMENTS_TITLE.search(title or ""))


def choose(found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The feeds without comment feeds (unless all are) and without feeds that repeat an earlier one.

    Two feeds are the same if the shorter list of first entries begins the longer one: one feed in two formats may show
    different numbers of entries.
    """
    articles = [feed for feed in found if not is_comments(feed.url, feed.title)]
    return tuple(_without_repeats(articles or found))


def _without_repeats(found: Iterable[Candidate]) -> Iterator[Candidate]:
    kept: list[Candidate] = []
    for each in found:
        if not any(_same(each, other) for other in kept):
            kept.append(each)
            yield each


def _same(one: Candidate, other: Candidate) -> bool:
    shared = min(len(one.names), len(other.names))
    return one.url == other.url or (shared > 0 and one.names[:shared] == other.names[:shared])


def _name(entry: ParsedEntry) -> str:
    try:
        return canonicalize(entry.link) if entry.link else entry.native_id or entry.title or ""
    except InvalidUrl:
        return entry.native_id or entry.title or ""


def _below(page: str, path: str) -> str:
    parts = urlsplit(page)
    try:
        return resolve(parts.path.rstrip("/") + path, page)
    except InvalidUrl:
        return ""
