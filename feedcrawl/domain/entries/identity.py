"""The names of a feed entry: candidates for its uid, and the keys by which later polls find it again.

Names are computed from one document alone, so that a child process can do it right after parsing; `recognition`
compares them with the stored entries.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - what a child answers is decoded by this annotation
from hashlib import sha256
from html import unescape
from typing import TYPE_CHECKING, Final
from unicodedata import normalize

from feedcrawl.domain.entries.lineage import Rung  # noqa: TC001 - as above
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.models import ParsedEntry  # noqa: TC001 - as above
from feedcrawl.domain.text import fold
from feedcrawl.domain.urls import canonicalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MAX_UID: Final = 512  # characters; a longer id is replaced by its digest
STAMPED: Final = 3  # a date of change that this many entries of a document share is a program's stamp, not an edit
BRANDED: Final = 3  # titles of a document, all with one ending: the name of the site, not a part of the titles

_WEB_ID = re.compile(r"https?:(?=//)", re.IGNORECASE)
_REVISION = re.compile(r"#\d{1,9}\Z")  # suffix that some publishers append to an id at each edit
_TAG = re.compile(r"<[^<>]*>")
_ENDING = re.compile(r"(?<=\S) [|\u2013\u2014\u00b7-] [^|\u2013\u2014\u00b7]{1,60}\Z")
_UNFIT = re.compile(r"[\x00-\x20\x7f]")


@dataclass(frozen=True, slots=True)
class Identified:
    """An entry of a document, with everything that may identify it within its feed.

    `keys`: `kind:digest` keys to look the entry up by and to store it under, the surest first; no other entry of the
    document has them. Kinds: `id`, `bare` (an id without scheme), `link`, `path` (a link without host), `media`, and,
    for an entry without a link of its own, `hash` (of its content). `uids`: candidates for the entry's uid, the
    preferred first. `id_key`: key of the native id; None if the entry has no id or shares it. `id_repeated`: True if
    another entry of the document has the same id. `title_key`: "" if another entry has the same title. `edited`: the
    publisher's date of the last edit (RFC 4287 section 4.2.15); None if it equals the date of publication, or if
    several entries share it: such a date is stamped by a program, not set by an editor.
    """

    entry: ParsedEntry
    keys: tuple[str, ...]
    uids: tuple[tuple[Rung, str], ...]
    id_key: str | None
    id_repeated: bool
    title_key: str
    content_hash: str
    edited: datetime | None = None

    @property
    def every_key(self) -> tuple[str, ...]:
        """`keys`, and the key of the title (kind `title`), which alone proves nothing: other entries may have it."""
        return (*self.keys, f"title:{self.title_key}") if self.title_key else self.keys


@dataclass(frozen=True, slots=True)
class _Names:
    """All names of one entry, before those that it shares with other entries are removed."""

    entry: ParsedEntry
    native_id: str
    canonical: str
    anchored: str
    title_key: str
    content_hash: str
    rest: str
    digests: tuple[str, ...]
    keys: tuple[str, ...]


def identify(entries: Iterable[ParsedEntry], *, feed_id: str) -> tuple[Identified, ...]:
    """The entries of one document with their names, in order; of identical entries only the first is kept."""
    entries = list(entries)
    ending = _common_ending([_seen(entry.title) for entry in entries])
    named = _without_repeats(_name(entry, feed_id, ending) for entry in entries)
    uses = Counter(key for names in named for key in _countable(names))
    shared = frozenset(key for key, count in uses.items() if count > 1)
    stamps = Counter(names.entry.updated for names in named)
    return tuple(_identified(names, shared, stamps) for names in named)


def _countable(names: _Names) -> Iterator[str]:
    yield from names.keys
    yield from (_key("hash", digest) for digest in names.digests)
    yield names.title_key


def content_hash(entry: ParsedEntry) -> str:
    """SHA-256 (hex) of the visible text: title, summary and content without markup, white space folded."""
    return _digest(*(_seen(text) for text in (entry.title, entry.summary, entry.content)))


def _name(entry: ParsedEntry, feed_id: str, ending: str) -> _Names:
    native_id = (entry.native_id or "").strip()
    canonical = _canonical(entry.link)
    _, mark, fragment = (entry.link or "").strip().partition("#")
    anchored = f"{canonical}{mark}{fragment}" if canonical and fragment else canonical
    content = content_hash(entry)
    rest = "" if native_id else _digest_of_rest(entry)
    digests = _digests(entry, canonical, feed_id, (content, anchored, native_id, rest))
    links = [_key("link", _bare(link)) for link in (anchored, canonical) if link]
    return _Names(
        entry=entry,
        native_id=native_id,
        canonical=canonical,
        anchored=anchored,
        title_key=_title_key(entry, ending),
        content_hash=content,
        rest=rest,
        digests=digests,
        keys=tuple(dict.fromkeys([*_id_keys(native_id), *links, *_hostless_keys(entry)])),
    )


def _digests(entry: ParsedEntry, canonical: str, feed_id: str, rest: tuple[str, ...]) -> tuple[str, ...]:
    """Digests for an entry without id or link; each covers more fields, the last is unique in the document."""
    published = entry.published.isoformat() if entry.published else ""
    digests = [_digest(canonical, entry.title or "", published, feed_id)]
    for text in rest:
        digests.append(_digest(digests[-1], text))
    return tuple(digests)


def _digest_of_rest(entry: ParsedEntry) -> str:
    """A digest of an entry as published, white space ignored: dates, media files, extensions."""
    media = [each.url for each in entry.enclosures]
    raw = "".join((entry.raw or b"").decode("utf-8", "replace").split())
    return _digest(entry.published_raw or "", f"{entry.published} {entry.updated}", *media, raw)


def _title_key(entry: ParsedEntry, ending: str) -> str:
    """A digest of the title without `ending`, else of the first 200 characters of the text; "" if the entry has
    neither. Letters and digits count, case does not: systems differ in quotes, dashes and capitals.
    """
    text = _seen(entry.title).removesuffix(ending) or _seen(entry.content or entry.summary)[:200]
    letters = "".join(filter(str.isalnum, normalize("NFKC", text).casefold()))
    return _digest(letters or text)[:16] if text else ""


def _common_ending(titles: Sequence[str]) -> str:
    """The ending after a dash or bar that all titles of a document share, mostly the site's name; "" if none."""
    endings = {found[0] if (found := _ENDING.search(title)) else "" for title in titles}
    return endings.pop() if len(endings) == 1 and len(titles) >= BRANDED else ""


def _id_keys(native_id: str) -> Iterator[str]:
    """The key of the id and, if the id is a URL, of the URL without scheme and revision mark; case counts."""
    if native_id:
        yield _key("id", native_id)
    if _WEB_ID.match(native_id):
        yield _key("bare", _REVISION.sub("", _bare(native_id)))


def _hostless_keys(entry: ParsedEntry) -> Iterator[str]:
    """Keys that survive a change of host: the path of the link (or of a URL as id), and the first enclosure."""
    path = _canonical(entry.link or entry.native_id).partition("//")[2].partition("/")[2]
    if path:
        yield _key("path", path)
    media = _canonical(entry.enclosures[0].url) if entry.enclosures else ""
    if media:
        yield _key("media", _bare(media))


def _without_repeats(named: Iterable[_Names]) -> Sequence[_Names]:
    """The entries that have an id, a link, a media file or a text, and do not repeat the names of an earlier entry.

    Entries without an id count as repeated only if their dates, categories and extensions are equal too: in many feeds
    several entries about one subject have the same link.
    """
    found: dict[tuple[str, str, str], _Names] = {}
    for names in named:
        if names.native_id or names.title_key or names.keys:
            key = (names.native_id or names.title_key, names.anchored or names.content_hash, names.rest)
            found.setdefault(key, names)
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
