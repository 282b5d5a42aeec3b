"""Values of a merge: the stored state of an article, and the article that it may be merged into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from feedcrawl.domain.articles.media import Media
    from feedcrawl.domain.articles.similarity import Fingerprinted


@dataclass(frozen=True, slots=True)
class Known:
    """The stored state at the time when an article was extracted.

    `owner`: task that owns the canonical URL. `requested_categories`: categories to add to the article. `stored`:
    content hash stored under its uid. `merged_before`: uid that it was merged into before. `apart`: uids that it must
    not be merged into. `requested` and `own`: page records of the requested URL and of the page; `requested_in` and
    `own_in`: collections that contain them. `same_text` and `same_title`: earlier articles with an equal text or title.
    """

    owner: str
    requested_categories: frozenset[str] = frozenset()
    stored: str | None = None
    merged_before: str | None = None
    apart: frozenset[str] = frozenset()
    requested: Media | None = None
    own: Media | None = None
    requested_in: frozenset[str] = frozenset()
    own_in: frozenset[str] = frozenset()
    same_text: tuple[Fingerprinted, ...] = ()
    same_title: tuple[Fingerprinted, ...] = ()

    @property
    def was_stored(self) -> bool:
        """True if an article is or was stored under this uid; such an article is never removed by a merge."""
        return self.stored is not None or (self.own is not None and self.own.processing_status == "ready_for_reading")


@dataclass(frozen=True, slots=True)
class Target:
    """The article that others are merged into. `lacks`: categories of the merged article that it was not in.

    `alive`: True if it is stored, or if the task that owns its URL has not ended.
    """

    uid: str
    canonical_url: str
    alive: bool
    lacks: tuple[str, ...]
