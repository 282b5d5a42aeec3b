"""Matches the entries of a document with the known entries of its feed: by id, by link, or by content."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from feedcrawl.domain.entries.identity import Identified
    from feedcrawl.domain.entries.lineage import IdQuality, KnownEntry

MIGRATION_MIN: Final = 3  # least number of moved or renamed entries that make a migration
NEAR: Final = timedelta(days=1)  # most difference of two dates of one entry: a change of time zone is less
REPEATED_SHARE: Final = 0.05  # share of repeated ids in a document above which ids are distrusted (as in FreshRSS)


class Matching:
    """Matches the entries of a document with known entries; each known entry is matched at most once.

    `dated`: known entries that may share no key with the document; after a migration one may be found by its date.
    `moved`: the known entries, by uid, that were found only because most of the document has moved.
    """

    def __init__(
        self,
        found: Sequence[Identified],
        stored: Mapping[str, KnownEntry],
        quality: IdQuality,
        dated: Sequence[KnownEntry],
    ) -> None:
        self._dated = dated
        self._found = found
        self._stored = stored
        self._quality = quality
        self._matches: dict[int, KnownEntry] = {}
        self._claimed: set[str] = set()
        self._contradicted: set[str] = set()
        self.moved: dict[str, KnownEntry] = {}

    def run(self) -> bool:
        """Match as many entries as possible, by the surest keys first; True if the feed was migrated."""
        surest = (self._by_id, self._by_link) if self._quality.rule == "id" else (self._by_link, self._by_id)
        for accepts in (*surest, _by_witness):
            self._match(accepts)
        if _most(self._renamed(), len(self._found)):
            return self._quality.rule == "id"
        moved = sum(any(_by_remains(*seen) for seen in self._candidates(number)) for number in self._unmatched())
        if not (self._quality.migrates and _most(moved, len(self._found))):
            return False
        surely = set(self._claimed)
        self._match(_by_remains)
        self._match_dates()
        self.moved = {each.uid: each for each in self._matches.values() if each.uid not in surely}
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

    def _match_dates(self) -> None:
        """Match entries whose title has changed as well, each with the only known entry left that has its date."""
        left = {number: self._found[number].entry.published for number in self._unmatched()}
        known = [each for each in self._dated if each.uid not in self._claimed and not each.deleted]
        shared = Counter(left.values()), Counter(each.published for each in known)
        by_date = {each.published: each for each in known}
        for number, date in left.items():
            if _is_exact(date) and all(counted[date] == 1 for counted in shared):
                self._matches[number] = by_date[date]
                self._claimed.add(by_date[date].uid)

    def _unmatched(self) -> list[int]:
        return [number for number in range(len(self._found)) if number not in self._matches]

    def _candidates(self, number: int) -> Iterator[tuple[Identified, str, KnownEntry]]:
        entry = self._found[number]
        for key in entry.every_key:
            before = self._stored.get(key)
            if before and before.uid not in self._claimed:
                yield entry, key, before

    def _renamed(self) -> int:
        return sum(_is_renamed(entry, before) for entry, before in self.pairs())

    def _by_id(self, entry: Identified, key: str, before: KnownEntry) -> bool:
        """True if the ids are equal, unless link, title and date all show that the id was reused."""
        if kind_of(key) not in {"id", "bare"}:
            return False
        links = [key for key in entry.keys if kind_of(key) == "link"]
        other_link = bool(links) and not any(self._stored.get(link) is before for link in links)
        dated = entry.entry.published and before.published
        if not (other_link and dated) or _same_date(entry, before) or _same_title(entry, before):
            return True
        self._contradicted.add(before.uid)
        return False

    def _by_link(self, entry: Identified, key: str, before: KnownEntry) -> bool:
        """True if link or digest is equal and the ids are distrusted, equal, or absent on one side."""
        ids_say_nothing = self._quality.rule == "link" or not _is_renamed(entry, before)
        return kind_of(key) in {"link", "hash"} and ids_say_nothing


def _by_witness(entry: Identified, key: str, before: KnownEntry) -> bool:
    """True if a key other than the title is equal, and the dates agree, or the titles where a date is missing."""
    if kind_of(key) == "title":
        return False
    if entry.entry.published and before.published:
        return _same_date(entry, before)
    return _same_title(entry, before)


def _by_place(entry: Identified, key: str, before: KnownEntry) -> bool:
    """True if link, path or enclosure is equal, and the entry was not published after it was last seen there."""
    published = entry.entry.published
    return kind_of(key) in {"link", "path", "media"} and not (published and published > before.last_seen)


def _by_remains(entry: Identified, key: str, before: KnownEntry) -> bool:
    """True if the place is the same; or, for an entry with a new id and a new link, if the title is the same and the
    dates differ by a day at most, or, without a date, if the whole text is the same.
    """
    if kind_of(key) != "title":
        return _by_place(entry, key, before)
    if entry.entry.published and before.published:
        return abs(entry.entry.published - before.published) <= NEAR
    return entry.content_hash == before.content_hash


def _is_exact(date: datetime | None) -> bool:
    """True for a time of day that no other entry has by accident: a whole hour stands for a day, or for a schedule."""
    return date is not None and bool(date.minute or date.second)


def _same_date(entry: Identified, before: KnownEntry) -> bool:
    return entry.entry.published is not None and entry.entry.published == before.published


def _same_title(entry: Identified, before: KnownEntry) -> bool:
    return entry.title_key == before.title_key != ""


def _is_renamed(entry: Identified, before: KnownEntry | None) -> bool:
    return bool(before and before.id_key and entry.id_key and before.id_key != entry.id_key)


def kind_of(key: str) -> str:
    """The kind of a key: the part before its digest."""
    return key.partition(":")[0]


def _most(count: int, total: int) -> bool:
    return count >= MIGRATION_MIN and 2 * count > total
