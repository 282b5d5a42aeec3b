"""The entries that a publisher rewrote between two versions of a feed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from feedcrawl.domain.entries.identity import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from feedcrawl.domain.models import ParsedEntry, ParsedFeed

FIELDS: Final = ("native_id", "link", "title", "published", "updated", "summary", "content")


@dataclass(frozen=True, slots=True)
class Rewrite:
    """An entry that was added, removed or changed; `fields`: (name, old value, new value) of each changed field."""

    kind: Literal["added", "removed", "changed"]
    name: str
    fields: tuple[tuple[str, str, str], ...] = ()

    @property
    def is_silent(self) -> bool:
        """True if a text changed and no date changed with it."""
        names = {name for name, _, _ in self.fields}
        return bool(names & {"title", "summary", "content"}) and not names & {"published", "updated"}


def rewrites(before: ParsedFeed, after: ParsedFeed) -> Iterator[Rewrite]:
    """The entries that differ between two versions: changed and added in the newer version's order, then removed.

    Entries are matched by id, else by link, else by title; white space and markup do not count.
    """
    old = {_name(entry): entry for entry in before.entries}
    new = {_name(entry): entry for entry in after.entries}
    for name, entry in new.items():
        if name not in old:
            yield Rewrite("added", entry.title or name)
        elif fields := tuple(_differing(old[name], entry)):
            yield Rewrite("changed", entry.title or name, fields)
    yield from (Rewrite("removed", entry.title or name) for name, entry in old.items() if name not in new)


def _name(entry: ParsedEntry) -> str:
    return entry.native_id or entry.link or entry.title or content_hash(entry)


def _differing(before: ParsedEntry, after: ParsedEntry) -> Iterator[tuple[str, str, str]]:
    reads_alike = content_hash(before) == content_hash(after)
    for field in FIELDS:
        old, new = getattr(before, field), getattr(after, field)
        if old != new and not (reads_alike and field in ("title", "summary", "content")):
            yield field, _text(old), _text(new)


def _text(value: object) -> str:
    return "" if value is None else str(value)
