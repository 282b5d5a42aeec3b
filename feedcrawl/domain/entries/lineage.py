"""The state that is stored between polls for each entry and for the quality of a feed's ids."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, TypedDict

from feedcrawl.domain.json_values import compact_json, from_json_text, known_fields

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

Rung = Literal["id", "link", "hash"]
"""The origin of an entry's uid: its native id, its canonical link, or a digest of its content."""

# The first edit of an entry counts at once. After it the least time between two revisions doubles, so that a text that
# changes at every poll (an advertisement, a counter) makes few revisions. After MAX_TEXT_REVISIONS only a new title
# makes one.
FIRST_WAIT: Final = timedelta(hours=1)
LONGEST_WAIT: Final = timedelta(hours=24)
MAX_TEXT_REVISIONS: Final = 10

# Hysteresis: repeated ids are distrusted at once; changed ids only after several polls in a row, because a single
# change of all ids is a migration. Trust returns slowly, because each change of the rule names new entries differently.
MAX_STRIKES: Final = 3
CALM_POLLS: Final = 30


Rule = Literal["id", "link"]


class IdRecord(TypedDict, total=False):
    """An IdQuality as JSON values; earlier versions wrote fewer fields."""

    rule: Rule
    strikes: int
    calm: int
    migrates: bool


@dataclass(frozen=True, slots=True)
class IdQuality:
    """How far a feed's native ids can be trusted. `rule`: the source of new entries' uids, "id" or "link".

    `strikes`: consecutive polls in which most ids changed. `calm`: consecutive polls without a fault while the rule is
    "link". `migrates`: False once an operator has undone a migration: entries under new ids and links are then new.
    """

    rule: Rule = "id"
    strikes: int = 0
    calm: int = 0
    migrates: bool = True

    def to_record(self) -> IdRecord:
        """The quality as JSON values."""
        return {"rule": self.rule, "strikes": self.strikes, "calm": self.calm, "migrates": self.migrates}

    def after(self, *, repeated: bool, changed: bool) -> IdQuality:
        """The quality after one more poll. `repeated`: ids were shared; `changed`: most entries had new ids."""
        strikes = self.strikes + 1 if changed else 0
        if repeated or strikes >= MAX_STRIKES:
            return replace(self, rule="link", strikes=min(strikes, MAX_STRIKES), calm=0)
        if self.rule == "id" or changed:
            return replace(self, strikes=strikes, calm=0)
        if self.calm + 1 >= CALM_POLLS:
            return replace(self, rule="id", strikes=0, calm=0)
        return replace(self, strikes=0, calm=self.calm + 1)


@dataclass(frozen=True, slots=True)
class KnownEntry:
    """The lineage of one entry. Keys are digests (`identity.Identified`); `title_key` is "" for a repeated title.

    `revisions` counts the reported changes, the last of them at `revised_at`; `content_hash` and `edited` are those of
    the last report. `article`: the uid of the article that a complete feed's entry links. `deleted`: time at which a
    complete feed had lost the entry (RFC 5005 section 2). Times are aware UTC.
    """

    uid: str
    rung: Rung
    content_hash: str
    title_key: str
    id_key: str | None
    published: datetime | None
    first_seen: datetime
    last_seen: datetime
    seen_count: int = 1
    revisions: int = 0
    revised_at: datetime | None = None
    edited: datetime | None = None
    article: str | None = None
    deleted: datetime | None = None

    def seen(self, *, id_key: str | None, published: datetime | None, now: datetime) -> KnownEntry:
        """The lineage after one more poll that showed the entry, possibly under another id."""
        return replace(
            self,
            id_key=id_key or self.id_key,
            published=published or self.published,
            last_seen=max(now, self.last_seen),
            seen_count=self.seen_count + 1,
            deleted=None,
        )

    def returned(self, now: datetime) -> KnownEntry:
        """The lineage of a deleted entry that comes back with the same content: a revision, which has an event."""
        return replace(self, revisions=self.revisions + 1, revised_at=now)

    def differs(self, *, content_hash: str, edited: datetime | None) -> bool:
        """True if the content differs from the last report, or `edited` is later than the last known date."""
        last = self.edited or self.published or self.first_seen
        return content_hash != self.content_hash or (edited is not None and edited > last)

    def outdates(self, edited: datetime | None) -> bool:
        """True if a version with this date of edit is older than the version that was last reported."""
        return edited is not None and self.edited is not None and edited < self.edited

    def revised(
        self, *, content_hash: str, title_key: str, now: datetime, edited: datetime | None = None
    ) -> KnownEntry | None:
        """The lineage with a new revision; None if nothing changed or the change does not count (yet)."""
        if not self.differs(content_hash=content_hash, edited=edited) or not self._is_due(title_key, now):
            return None
        return replace(
            self,
            content_hash=content_hash,
            title_key=title_key,
            revisions=self.revisions + 1,
            revised_at=now,
            edited=edited or self.edited,
        )

    def _is_due(self, title_key: str, now: datetime) -> bool:
        if self.revised_at is None:
            return True
        if self.revisions >= MAX_TEXT_REVISIONS and title_key == self.title_key:
            return False
        doublings = min(self.revisions - 1, 5)
        return now - self.revised_at >= min(FIRST_WAIT * (1 << doublings), LONGEST_WAIT)

    def to_json(self) -> str:
        """One compact JSON object, without the fields that are None or 0."""
        values = ((name, getattr(self, name)) for name in _FIELDS)
        return compact_json(
            {
                name: value.isoformat() if isinstance(value, datetime) else value
                for name, value in values
                if value is not None and value != 0
            }
        )


_FIELDS: Final = tuple(each.name for each in fields(KnownEntry))


def withdrawn(known: Iterable[KnownEntry], present: Collection[str], now: datetime) -> tuple[KnownEntry, ...]:
    """The entries that a complete feed has no longer: not among the uids `present`, and not deleted before."""
    return tuple(replace(each, deleted=now) for each in known if each.deleted is None and each.uid not in present)


def known_from_json(text: str) -> KnownEntry:
    """The lineage from JSON that `to_json` of this or another version wrote."""
    values = known_fields(KnownEntry, from_json_text(text))
    for name in ("published", "first_seen", "last_seen", "revised_at", "edited", "deleted"):
        values[name] = datetime.fromisoformat(values[name]) if values.get(name) else None
    values.setdefault("id_key", None)
    return KnownEntry(**values)
