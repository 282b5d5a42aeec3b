"""What is remembered of an entry and of a feed's ids between polls."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

Rung = Literal["id", "link", "hash"]
"""What an entry's uid was made of: its native id, its canonical link, or a digest of what it says."""

# A publisher's first edit counts at once; then each wait doubles, so that a text that changes at every poll (an
# advertisement, a counter) makes few revisions; after the last only a new title makes one.
FIRST_WAIT: Final = timedelta(hours=1)
LONGEST_WAIT: Final = timedelta(hours=24)
MAX_TEXT_REVISIONS: Final = 10

# Hysteresis: ids that repeat are distrusted at once, ids that change only when they go on doing so (one change of all
# of them is a migration), and trust comes back slowly, since each swing would name new entries differently.
MAX_STRIKES: Final = 3
CALM_POLLS: Final = 30


@dataclass(frozen=True, slots=True)
class IdQuality:
    """How far a feed's native ids can be trusted. `rule`: what new entries are named by, "id" or "link".

    `strikes`: polls in a row in which most ids changed; `calm`: polls in a row without fault while links rule.
    """

    rule: Literal["id", "link"] = "id"
    strikes: int = 0
    calm: int = 0

    def after(self, *, repeated: bool, changed: bool) -> IdQuality:
        """The quality after a poll whose ids were repeated, or for the greater part not those known."""
        strikes = self.strikes + 1 if changed else 0
        if repeated or strikes >= MAX_STRIKES:
            return IdQuality("link", min(strikes, MAX_STRIKES))
        if self.rule == "id" or changed:
            return IdQuality(self.rule, strikes)
        return IdQuality() if self.calm + 1 >= CALM_POLLS else IdQuality("link", 0, self.calm + 1)


@dataclass(frozen=True, slots=True)
class KnownEntry:
    """The lineage of one entry. Keys are digests (`identity.Identified`), `title_key` "" where the title tells nothing.

    `revisions` counts reported changes, the last at `revised_at`; `content_hash` and `edited` are as last reported.
    Times are aware UTC.
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

    def seen(self, *, id_key: str | None, published: datetime | None, now: datetime) -> KnownEntry:
        """The lineage after one more poll that showed the entry, perhaps under another id."""
        return replace(
            self,
            id_key=id_key or self.id_key,
            published=published or self.published,
            last_seen=max(now, self.last_seen),
            seen_count=self.seen_count + 1,
        )

    def differs(self, *, content_hash: str, edited: datetime | None) -> bool:
        """Whether an entry is another than was last reported, by what it says or by its publisher's word."""
        last = self.edited or self.published or self.first_seen
        return content_hash != self.content_hash or (edited is not None and edited > last)

    def outdates(self, said: datetime | None) -> bool:
        """Whether a version that its publisher dates so is older than the one that was last reported."""
        return said is not None and self.edited is not None and said < self.edited

    def revised(
        self, *, content_hash: str, title_key: str, now: datetime, edited: datetime | None = None
    ) -> KnownEntry | None:
        """The lineage with a new revision, or None where nothing changed or the change does not count (yet)."""
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
        """One compact JSON object, fields without a value left out."""
        record = {name: value for name, value in asdict(self).items() if value not in (None, 0)}
        return json.dumps(record, separators=(",", ":"), default=datetime.isoformat, ensure_ascii=False)


def known_from_json(text: str) -> KnownEntry:
    """The lineage that `to_json` wrote, of this or another version."""
    record: dict[str, Any] = json.loads(text)
    for name in ("published", "first_seen", "last_seen", "revised_at", "edited"):
        record[name] = datetime.fromisoformat(record[name]) if record.get(name) else None
    record.setdefault("id_key", None)
    return KnownEntry(**{field.name: record[field.name] for field in fields(KnownEntry) if field.name in record})
