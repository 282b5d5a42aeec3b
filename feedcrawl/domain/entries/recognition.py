"""Which entries of a poll are new, which changed, which are known under another name.

Nothing is looked up here: the caller looks up the keys of `identity.identify` and hands over what it found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from feedcrawl.domain.entries.lineage import IdQuality, KnownEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from feedcrawl.domain.entries.identity import Identified
    from feedcrawl.domain.models import ParsedEntry

MAX_NEW: Final = 1000  # of one poll; the rest is new again at the next
MIGRATION_MIN: Final = 3  # entries that must agree before a poll is taken for a migration
REPEATED_SHARE: Final = 0.05  # of a document's entries, beyond which its ids name nothing (as FreshRSS found)

Verdict = Literal["new", "changed", "edited", "known"]
"""`edited`: it says what it said, and its publisher that it was changed; so its article may say something else."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One entry of a poll: what it is to us, and what to store of it.

    `lineage` replaces what is stored under its uid; `aliases` are keys to store for the uid: those that were nobody's,
    and those whose owner is in the document under other names.
    """

    entry: ParsedEntry
    verdict: Verdict
    lineage: KnownEntry
    aliases: tuple[str, ...]

    @property
    def uid(self) -> str:
        """The entry's name within its feed, the same for as long as it is recognised."""
        return self.lineage.uid


@dataclass(frozen=True, slots=True)
class Recognition:
    """A poll's entries in document order, and what the poll says of the feed's ids.

    `migrated`: most entries were met under new names, so the feed was moved or rewritten, and none of them is news.
    `over_limit`: new entries beyond the most that one poll may bring, left for the next.
    """

    sightings: tuple[Sighting, ...]
    quality: IdQuality
    migrated: bool
    over_limit: int


def recognise(
    found: Sequence[Identified],
    known: Mapping[str, KnownEntry],
    aliases: Mapping[str, str],
    *,
    quality: IdQuality,
    now: datetime,
) -> Recognition:
    """What the entries of a document are, given what is stored of its feed.

    `aliases`: uids by key, for those keys of `found` that are stored; `known`: the lineages of these uids. An entry is
    known by its id, by its link where ids say nothing, by any key with a witness, or by its place where most of the
    document is so (a migration). Any other is new and gets the first name of its ladder that is free.
    """
    stored = {key: known[uid] for key, uid in aliases.items() if uid in known}
    matching = _Matching(found, stored, quality)
    migrated = matching.run()
    quality = matching.judged()
    sightings = list(_sightings(list(matching.pairs()), stored, quality, now))
    new = [number for number, sighting in enumerate(sightings) if sighting.verdict == "new"]
    left = frozenset(new[MAX_NEW:])
    kept = tuple(sighting for number, sighting in enumerate(sightings) if number not in left)
    return Recognition(kept, quality, migrated, len(left))


class _Matching:
    """The entries of a document, and the known entries they turn out to be; none of these is met twice."""

    def __init__(self, found: Sequence[Identified], stored: Mapping[str, KnownEntry], quality: IdQuality) -> None:
        self._found = found
        self._stored = stored
        self._quality = quality
        self._matches: dict[int, KnownEntry] = {}
        self._claimed: set[str] = set()
        self._contradicted: set[str] = set()

    def run(self) -> bool:
        """Match all that can be matched, by the surest keys first; whether the feed was migrated."""
        surest = (self._by_id, self._by_link) if self._quality.rule == "id" else (self._by_link, self._by_id)
        for accepts in (*surest, _by_witness):
            self._match(accepts)
        if _most(self._renamed(), len(self._found)):
            return self._quality.rule == "id"
        moved = sum(any(_by_place(*seen) for seen in self._candidates(number)) for number in self._unmatched())
        if not _most(moved, len(self._found)):
            return False
        self._match(_by_place)
        return True

    def pairs(self) -> Iterator[tuple[Identified, KnownEntry | None]]:
        """Each entry with what is known of it."""
        for number, entry in enumerate(self._found):
            yield entry, self._matches.get(number)

    def judged(self) -> IdQuality:
        """The quality of the feed's ids after this document."""
        reused = len(self._contradicted) + sum(entry.id_repeated for entry in self._found)
        repeated = reused > REPEATED_SHARE * len(self._found)
        compared = sum(1 for entry, before in self.pairs() if before and before.id_key and entry.id_key)
        changed = _most(self._renamed(), compared)
        return self._quality.after(repeated=repeated, changed=changed)

    def _match(self, accepts: Callable[[Identified, str, KnownEntry], bool]) -> None:
        for number in self._unmatched():
            for entry, key, before in self._candidates(number):
                if accepts(entry, key, before):
                    self._matches[number] = before
                    self._claimed.add(before.uid)
                    break

    def _unmatched(self) -> list[int]:
        return [number for number in range(len(self._found)) if number not in self._matches]

    def _candidates(self, number: int) -> Iterator[tuple[Identified, str, KnownEntry]]:
        entry = self._found[number]
        for key in entry.keys:
            before = self._stored.get(key)
            if before and before.uid not in self._claimed:
                yield entry, key, before

    def _renamed(self) -> int:
        return sum(_is_renamed(entry, before) for entry, before in self.pairs())

    def _by_id(self, entry: Identified, key: str, before: KnownEntry) -> bool:
        """An id names what it named, unless link, title and date all say that it was given to something else."""
        if _kind(key) not in {"id", "bare"}:
            return False
        links = [key for key in entry.keys if _kind(key) == "link"]
        other_link = bool(links) and not any(self._stored.get(link) is before for link in links)
        dated = entry.entry.published and before.published
        if not (other_link and dated) or _same_date(entry, before) or _same_title(entry, before):
            return True
        self._contradicted.add(before.uid)
        return False

    def _by_link(self, entry: Identified, key: str, before: KnownEntry) -> bool:
        """A link or digest names an entry where ids do not: one of the two has none, or the feed's are not trusted."""
        ids_say_nothing = self._quality.rule == "link" or not _is_renamed(entry, before)
        return _kind(key) in {"link", "hash"} and ids_say_nothing


def _by_witness(entry: Identified, _key: str, before: KnownEntry) -> bool:
    """Any key names an entry whose date agrees, or whose title does where a date is missing."""
    if entry.entry.published and before.published:
        return _same_date(entry, before)
    return _same_title(entry, before)


def _by_place(entry: Identified, key: str, before: KnownEntry) -> bool:
    """In a migration the place is enough, but what was published since the place was last seen is news there."""
    published = entry.entry.published
    return _kind(key) in {"link", "path", "media"} and not (published and published > before.last_seen)


def _same_date(entry: Identified, before: KnownEntry) -> bool:
    return entry.entry.published is not None and entry.entry.published == before.published


def _same_title(entry: Identified, before: KnownEntry) -> bool:
    return entry.title_key == before.title_key != ""


def _is_renamed(entry: Identified, before: KnownEntry | None) -> bool:
    return bool(before and before.id_key and entry.id_key and before.id_key != entry.id_key)


def _kind(key: str) -> str:
    return key.partition(":")[0]


def _most(count: int, total: int) -> bool:
    return count >= MIGRATION_MIN and 2 * count > total


def _sightings(
    pairs: Sequence[tuple[Identified, KnownEntry | None]],
    stored: Mapping[str, KnownEntry],
    quality: IdQuality,
    now: datetime,
) -> Iterator[Sighting]:
    present = {before.uid for _, before in pairs if before}
    taken = {before.uid for before in stored.values()}
    passing = {"id", "bare"} if quality.rule == "link" else set()  # ids that change would be stored for ever
    for entry, before in pairs:
        if before:
            verdict, lineage = _seen_again(entry, before, now)
        else:
            verdict, lineage = "new", _first_seen(entry, taken, quality, now)
        taken.add(lineage.uid)
        others = present - {lineage.uid}
        free = (key for key in entry.keys if key not in stored or stored[key].uid in others)
        aliases = tuple(key for key in free if _kind(key) not in passing)
        yield Sighting(entry.entry, verdict, lineage, aliases)


def _seen_again(entry: Identified, before: KnownEntry, now: datetime) -> tuple[Verdict, KnownEntry]:
    lineage = before.seen(id_key=entry.id_key, published=entry.entry.published, now=now)
    said = {"content_hash": entry.content_hash, "title_key": entry.title_key}
    revised = lineage.revised(**said, edited=entry.edited, now=now)
    if revised is None:
        return "known", lineage
    return "edited" if revised.content_hash == lineage.content_hash else "changed", revised


def _first_seen(entry: Identified, taken: Collection[str], quality: IdQuality, now: datetime) -> KnownEntry:
    free = [(rung, uid) for rung, uid in entry.uids if uid not in taken]
    rung, uid = next((name for name in free if name[0] != "id" or quality.rule == "id"), entry.uids[-1])
    return KnownEntry(
        uid=uid,
        rung=rung,
        content_hash=entry.content_hash,
        title_key=entry.title_key,
        id_key=entry.id_key,
        published=entry.entry.published,
        first_seen=now,
        last_seen=now,
        edited=entry.edited,
    )
