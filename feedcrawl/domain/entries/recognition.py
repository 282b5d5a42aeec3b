"""The decision which entries of a poll are new, which changed, and which are known under another name.

There is no I/O here: the caller looks up the keys of `identity.identify` and passes the stored values.
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

MAX_NEW: Final = 1000  # new entries of one poll; the rest are new again at the next poll
MIGRATION_MIN: Final = 3  # least number of moved or renamed entries that make a migration
REPEATED_SHARE: Final = 0.05  # share of repeated ids in a document above which ids are distrusted (as in FreshRSS)

Verdict = Literal["new", "changed", "edited", "known"]
"""`edited`: the entry's content is the same, but its publisher reports an edit, so its article may have changed."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One entry of a poll: the verdict, and the values to store.

    `lineage` replaces the lineage stored under its uid. `aliases` are the keys to store for the uid: keys that had no
    owner, and keys whose owner is in the document under other names.
    """

    entry: ParsedEntry
    verdict: Verdict
    lineage: KnownEntry
    aliases: tuple[str, ...]

    @property
    def uid(self) -> str:
        """The entry's name within its feed; unchanged for as long as the entry is recognised."""
        return self.lineage.uid


@dataclass(frozen=True, slots=True)
class Recognition:
    """A poll's entries in document order, and the quality of the feed's ids after the poll.

    `migrated`: most entries were found under new names, so the feed was moved or rewritten; entries that were found
    again are not reported as new. `over_limit`: number of new entries beyond MAX_NEW, left for the next poll.
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
    """The verdict on each entry of a document, given the stored entries of its feed.

    `aliases`: uids by key, for the keys of `found` that are stored; `known`: the lineages by uid. An entry is
    recognised by its id; by its link if the ids cannot decide; by any key if date or title agree; or, in a migration
    (most of the document moved), by its place. Every other entry is new and gets the first candidate of `uids` that is
    free.
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
    """Matches the entries of a document with known entries; each known entry is matched at most once."""

    def __init__(self, found: Sequence[Identified], stored: Mapping[str, KnownEntry], quality: IdQuality) -> None:
        self._found = found
        self._stored = stored
        self._quality = quality
        self._matches: dict[int, KnownEntry] = {}
        self._claimed: set[str] = set()
        self._contradicted: set[str] = set()

    def run(self) -> bool:
        """Match as many entries as possible, by the surest keys first; True if the feed was migrated."""
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
        """Each entry with the known entry that it matches, or None."""
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
        """True if the ids are equal, unless link, title and date all show that the id was reused."""
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
        """True if link or digest is equal and the ids are distrusted, equal, or absent on one side."""
        ids_say_nothing = self._quality.rule == "link" or not _is_renamed(entry, before)
        return _kind(key) in {"link", "hash"} and ids_say_nothing


def _by_witness(entry: Identified, _key: str, before: KnownEntry) -> bool:
    """True if the dates agree, or the titles agree where a date is missing; the kind of key does not matter."""
    if entry.entry.published and before.published:
        return _same_date(entry, before)
    return _same_title(entry, before)


def _by_place(entry: Identified, key: str, before: KnownEntry) -> bool:
    """True if link, path or enclosure is equal, and the entry was not published after it was last seen there."""
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
    # Ids that keep changing would fill the store with aliases.
    unstable = {"id", "bare"} if quality.rule == "link" else set()
    for entry, before in pairs:
        if before:
            verdict, lineage = _seen_again(entry, before, now)
        else:
            verdict, lineage = "new", _first_seen(entry, taken, quality, now)
        taken.add(lineage.uid)
        others = present - {lineage.uid}
        free = (key for key in entry.keys if key not in stored or stored[key].uid in others)
        aliases = tuple(key for key in free if _kind(key) not in unstable)
        yield Sighting(entry.entry, verdict, lineage, aliases)


def _seen_again(entry: Identified, before: KnownEntry, now: datetime) -> tuple[Verdict, KnownEntry]:
    lineage = before.seen(id_key=entry.id_key, published=entry.entry.published, now=now)
    content = {"content_hash": entry.content_hash, "title_key": entry.title_key}
    revised = lineage.revised(**content, edited=entry.edited, now=now)
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
