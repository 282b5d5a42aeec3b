"""Under which names an entry may be known: its uid and the keys by which it is met again.

Made from one document alone, so that it can run beside the parser; `recognition` compares it with what is known.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - what a child answers is decoded by this annotation
from hashlib import sha256
from html import unescape
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.entries.lineage import Rung  # noqa: TC001 - as above
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.models import ParsedEntry  # noqa: TC001 - as above
from feedcrawl.domain.text import fold
from feedcrawl.domain.urls import canonicalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MAX_UID: Final = 512  # characters; longer ids go by their digest
STAMPED: Final = 3  # entries of a document with the same date of change, at which it says nothing of one of them

_WEB_ID = re.compile(r"https?:(?=//)", re.IGNORECASE)
_REVISION = re.compile(r"#\d{1,9}\Z")  # what some publishers append to an id at each edit
_TAG = re.compile(r"<[^<>]*>")
_UNFIT = re.compile(r"[\x00-\x20\x7f]")


@dataclass(frozen=True, slots=True)
class Identified:
    """An entry of a document with all that may identify it within its feed.

    `keys`: to look it up by and to find it again by, `kind:digest`, most telling first, none shared with another entry
    of the document; kinds `id`, `bare` (an id without scheme), `link`, `path` (a link without host), `media`, and for
    want of a link `hash` (of what it says).
    `uids`: the ladder of names. `id_key` and `id_repeated` tell what its native id is worth here, `title_key` is ""
    where the document repeats its title. `edited` is when it was, by its publisher (RFC 4287 section 4.2.15); None for
    the moment of publication, and for one that several entries share: a program stamps these, no editor.
    """

    entry: ParsedEntry
    keys: tuple[str, ...]
    uids: tuple[tuple[Rung, str], ...]
    id_key: str | None
    id_repeated: bool
    title_key: str
    content_hash: str
    edited: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of one entry, before it is known which of them are its own."""

    entry: ParsedEntry
    native_id: str
    canonical: str
    anchored: str
    title_key: str
    content_hash: str
    digests: tuple[str, ...]
    keys: tuple[str, ...]


def identify(entries: Iterable[ParsedEntry], *, feed_id: str) -> tuple[Identified, ...]:
    """The entries of one document, in its order, each with its names; an entry repeated whole counts once."""
    named = _without_repeats(_name(entry, feed_id) for entry in entries)
    uses = Counter(key for names in named for key in _countable(names))
    shared = frozenset(key for key, count in uses.items() if count > 1)
    stamps = Counter(names.entry.updated for names in named)
    return tuple(_identified(names, shared, stamps) for names in named)


def _countable(names: _Names) -> Iterator[str]:
    yield from names.keys
    yield from (_key("hash", digest) for digest in names.digests)
    yield names.title_key


def content_hash(entry: ParsedEntry) -> str:
    """SHA-256 of what a reader sees: title, summary and content without markup, white space folded (hex)."""
    return _digest(*(_seen(text) for text in (entry.title, entry.summary, entry.content)))


def _name(entry: ParsedEntry, feed_id: str) -> _Names:
    native_id = (entry.native_id or "").strip()
    canonical = _canonical(entry.link)
    _, mark, fragment = (entry.link or "").strip().partition("#")
    anchored = f"{canonical}{mark}{fragment}" if canonical and fragment else canonical
    content = content_hash(entry)
    digests = _digests(entry, canonical, feed_id, (content, anchored, native_id))
    links = [_key("link", _bare(link)) for link in (anchored, canonical) if link]
    return _Names(
        entry=entry,
        native_id=native_id,
        canonical=canonical,
        anchored=anchored,
        title_key=_title_key(entry),
        content_hash=content,
        digests=digests,
        keys=tuple(dict.fromkeys([*_id_keys(native_id), *links, *_hostless_keys(entry)])),
    )


def _digests(entry: ParsedEntry, canonical: str, feed_id: str, rest: tuple[str, ...]) -> tuple[str, ...]:
    """What names an entry that has no name of its own; each takes in more, the last is no other's in its document."""
    published = entry.published.isoformat() if entry.published else ""
    digests = [_digest(canonical, entry.title or "", published, feed_id)]
    for text in rest:
        digests.append(_digest(digests[-1], text))
    return tuple(digests)


def _title_key(entry: ParsedEntry) -> str:
    """A digest of the title, of the text's beginning where there is none, "" where there is neither."""
    text = _seen(entry.title) or _seen(entry.content or entry.summary)[:200]
    return _digest(text)[:16] if text else ""


def _id_keys(native_id: str) -> Iterator[str]:
    """An id as it is, and one that is a URL without scheme and revision mark as well; case counts."""
    if native_id:
        yield _key("id", native_id)
    if _WEB_ID.match(native_id):
        yield _key("bare", _REVISION.sub("", _bare(native_id)))


def _hostless_keys(entry: ParsedEntry) -> Iterator[str]:
    """What is left of the link, or of an id that is one, when its host changes; and the first enclosure."""
    path = _canonical(entry.link or entry.native_id).partition("//")[2].partition("/")[2]
    if path:
        yield _key("path", path)
    media = _canonical(entry.enclosures[0].url) if entry.enclosures else ""
    if media:
        yield _key("media", _bare(media))


def _without_repeats(named: Iterable[_Names]) -> Sequence[_Names]:
    """Without entries that say nothing, or repeat the names of one before."""
    found: dict[tuple[str, str], _Names] = {}
    for names in named:
        if names.native_id or names.canonical or names.title_key:
            found.setdefault((names.native_id or names.title_key, names.anchored or names.content_hash), names)
    return list(found.values())


def _identified(names: _Names, shared: frozenset[str], stamps: Mapping[datetime | None, int]) -> Identified:
    updated = names.entry.updated
    id_key = _key("id", names.native_id) if names.native_id else None
    own_id = id_key if id_key not in shared else None
    digests = [digest for digest in names.digests if _key("hash", digest) not in shared]
    keys = tuple(key for key in names.keys if key not in shared)
    if not any(key.startswith("link:") for key in keys):
        keys += (_key("hash", digests[0]),)
    return Identified(
        entry=names.entry,
        keys=keys,
        uids=(*_own_names(names, shared), *(("hash", digest) for digest in digests)),
        id_key=own_id,
        id_repeated=own_id != id_key,
        title_key="" if names.title_key in shared else names.title_key,
        content_hash=names.content_hash,
        edited=updated if updated != names.entry.published and stamps[updated] < STAMPED else None,
    )


def _own_names(names: _Names, shared: frozenset[str]) -> Iterator[tuple[Rung, str]]:
    if names.native_id and _key("id", names.native_id) not in shared:
        unfit = len(names.native_id) > MAX_UID or _UNFIT.search(names.native_id)
        yield "id", _digest(names.native_id) if unfit else names.native_id
    for link in dict.fromkeys((names.canonical, names.anchored)):
        if link and _key("link", _bare(link)) not in shared:
            yield "link", link


def _canonical(url: str | None) -> str:
    try:
        return canonicalize(url) if url else ""
    except InvalidUrl:
        return ""


def _bare(url: str) -> str:
    return _WEB_ID.sub("", url, count=1)


def _key(kind: str, text: str) -> str:
    return f"{kind}:{_digest(text)[:32]}"


def _digest(*parts: str) -> str:
    return sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _seen(markup: str | None) -> str:
    return fold(unescape(_TAG.sub(" ", markup))) if markup else ""
