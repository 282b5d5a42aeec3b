"""The decision which entries of a poll are new, which changed, and which are known under another name.

There is no I/O here: the caller looks up the keys of `identity.identify` and passes the stored values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from feedcrawl.domain.entries.lineage import IdQuality, KnownEntry
from feedcrawl.domain.entries.matching import Matching, kind_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from feedcrawl.domain.entries.identity import Identified
    from feedcrawl.domain.models import ParsedEntry

MAX_NEW: Final = 1000  # new entries of one poll; the rest are new again at the next poll

Verdict = Literal["new", "changed", "edited", "known"]
"""`edited`: the entry's content is the same, but its publisher reports an edit, so its article may have changed."""


@dataclass(frozen=True, slots=True)
class RecognisedEntry:
    """One entry of a poll: the verdict, and the values to store.

    `lineage` replaces the lineage stored under its uid. `aliases` are the keys to store for the uid: keys that had no
    owner, and keys whose owner is in the document under other names. The key of a title belongs to the entry that had
    the title last. `formerly` is the lineage before this poll if the entry was found again only because most of the
    document has moved; such a match can be undone.
    """

    entry: ParsedEntry
    verdict: Verdict
    lineage: KnownEntry
    aliases: tuple[str, ...]
    formerly: KnownEntry | None = None

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

    sightings: tuple[RecognisedEntry, ...]
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

    `aliases`: uids by key, for the keys of `found` (`every_key`) that are stored; `known`: the lineages by uid, of
    these uids or of all entries of the feed. An entry is recognised by its id; by its link if the ids cannot decide; by
    any key if date or title agree; or, in a migration (most of the document moved), by its place, by title and date, or
    as the only known entry with its date (which is certain if `known` has all). Every other entry is new and gets the
    first candidate of `uids` that is free.
    """
    stored = {key: known[uid] for key, uid in aliases.items() if uid in known}
    matching = Matching(found, stored, quality, tuple(known.values()))
    migrated = matching.run()
    quality = matching.judged()
    sightings = list(_sightings(matching, stored, set(known), quality=quality, now=now))
    new = [number for number, sighting in enumerate(sightings) if sighting.verdict == "new"]
    left = frozenset(new[MAX_NEW:])
    kept = tuple(sighting for number, sighting in enumerate(sightings) if number not in left)
    return Recognition(kept, quality, migrated, len(left))


def _sightings(
    matching: Matching,
    stored: Mapping[str, KnownEntry],
    taken: set[str],
    *,
    quality: IdQuality,
    now: datetime,
) -> Iterator[RecognisedEntry]:
    pairs = list(matching.pairs())
    present = {before.uid for _, before in pairs if before}
    # Ids that keep changing would fill the store with aliases.
    unstable = {"id", "bare"} if quality.rule == "link" else set()
    for entry, before in pairs:
        if before:
            verdict, lineage = _seen_again(entry, before, now)
        else:
            verdict, lineage = "new", _first_seen(entry, taken, quality, now)
        taken.add(lineage.uid)
        aliases = [
            key
            for key in entry.every_key
            if (key not in stored or _is_free(key, stored[key], lineage.uid, present))
            and not (unstable and kind_of(key) in unstable)
        ]
        yield RecognisedEntry(entry.entry, verdict, lineage, tuple(aliases), matching.moved.get(lineage.uid))


def _is_free(key: str, owner: KnownEntry, uid: str, present: Collection[str]) -> bool:
    """True if a stored key passes from its owner to this entry; `present`: the uids that the document shows."""
    return owner.uid != uid and (owner.uid in present or kind_of(key) == "title")


def _seen_again(entry: Identified, before: KnownEntry, now: datetime) -> tuple[Verdict, KnownEntry]:
    lineage = before.seen(id_key=entry.id_key, published=entry.entry.published, now=now)
    content = {"content_hash": entry.content_hash, "title_key": entry.title_key}
    revised = lineage.revised(**content, edited=entry.edited, now=now)
    if revised is None:
        return ("changed", lineage.returned(now)) if before.deleted else ("known", lineage)
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
