"""Which of the feeds that a page leads to is meant: where to look, what is the same feed again, what is comments."""

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

MAX_PLACES: Final = 20  # addresses that are tried for one page
COMPARED: Final = 20  # entries, newest first

_COMMENTS_URL = re.compile(r"/comments?(?:[/._-]|\Z)|[?&](?:feed|type)=comments", re.IGNORECASE)
_COMMENTS_TITLE = re.compile(
    r"\b(?:comments?|kommentare?|commentaires?|comentarios?|comentários?|commenti|reacties|kommentarer|komentarze)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A feed that was found. `names` are links of its first entries, ids or titles where they have none."""

    url: str
    title: str | None = None
    entries: int = 0
    names: tuple[str, ...] = ()


def read_candidate(body: bytes, *, url: str, content_type: str | None) -> Candidate:
    """The feed in a document, as a child process reads it; NotAFeed as `feeds.parse` raises it."""
    parsed = feeds.parse(body, url=url, content_type=content_type)
    names = tuple(map(_name, parsed.entries[:COMPARED]))
    return Candidate(url, parsed.title, len(parsed.entries), names)


def places(found: Iterable[FeedLink], page: str) -> tuple[str, ...]:
    """The addresses to try, in the order of a page's links, its comments last; never the page itself."""
    ordered = sorted(found, key=lambda link: is_comments(link.url, link.title))
    return tuple(dict.fromkeys(link.url for link in ordered if link.url != page))[:MAX_PLACES]


def guesses(page: str) -> tuple[str, ...]:
    """Where the feed of a page that announces none is often kept: under the page, then under its site."""
    under = [page] if urlsplit(page).path.strip("/") else []
    found = [_below(base, path) for base in under for path in COMMON_PATHS[:5]]
    found += [resolve(path, page) for path in COMMON_PATHS]
    return tuple(dict.fromkeys(filter(None, found)))


def is_comments(url: str, title: str | None) -> bool:
    """Whether a feed holds what readers say under articles: by its address or its title."""
    return bool(_COMMENTS_URL.search(url) or _COMMENTS_TITLE.search(title or ""))


def choose(found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """What is left to choose from: no comments where there is more, and no feed that repeats one before it.

    One feed in several formats names the same entries first, though they may show more or fewer of them.
    """
    articles = [each for each in found if not is_comments(each.url, each.title)]
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
