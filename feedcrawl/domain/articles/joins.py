"""Values of a merge: what is known of an article and of the article that has its story."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from feedcrawl.domain.articles.media import Media
    from feedcrawl.domain.articles.similarity import Met


@dataclass(frozen=True, slots=True)
class Known:
    """What was known when an article was read. `stored` is the content hash of what is there under its uid."""

    owner: str
    wanted: frozenset[str] = frozenset()
    stored: str | None = None
    joined: str | None = None
    apart: frozenset[str] = frozenset()
    asked: Media | None = None
    own: Media | None = None
    asked_in: frozenset[str] = frozenset()
    own_in: frozenset[str] = frozenset()
    same_text: tuple[Met, ...] = ()
    same_title: tuple[Met, ...] = ()

    @property
    def was_stored(self) -> bool:
        """Whether there is or was an article of this uid: it is never taken away again."""
        return self.stored is not None or (self.own is not None and self.own.processing_status == "ready_for_reading")


@dataclass(frozen=True, slots=True)
class Winner:
    """An article that has the story. `lacks` are the loser's categories that it was not in."""

    uid: str
    canonical_url: str
    alive: bool
    lacks: tuple[str, ...]
