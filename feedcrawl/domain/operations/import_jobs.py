"""How far the import of a long list of feeds is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

MAX_REFUSED: Final = 1_000
"""Refused feeds that a job keeps, the first; all of them are counted."""
SILENT_SEC: Final = 60.0
"""A job that did nothing for so long is not under way any more: its process has ended."""


@dataclass(frozen=True, slots=True)
class ImportJob:
    """An import: the numbers of feeds that the list has, and of them those gone through, subscribed, and refused.

    `subscribed` counts a feed once, be it in the list twice or subscribed before. `left_out` is the number of feeds
    after the limit of one list. `status` is `running`, `done` or `interrupted`. Times are aware UTC.
    """

    id: str
    listed: int
    left_out: int
    created_at: datetime
    updated_at: datetime
    status: str = "running"
    done: int = 0
    subscribed: int = 0
    refused_count: int = 0
    refused: tuple[Mapping[str, str], ...] = ()

    def advanced(
        self, gone_through: int, subscribed: int, refused: Sequence[Mapping[str, str]], *, now: datetime
    ) -> ImportJob:
        """The job after some more feeds; `done` after the last."""
        done = self.done + gone_through
        return replace(
            self,
            done=done,
            status="done" if done >= self.listed else self.status,
            subscribed=self.subscribed + subscribed,
            refused_count=self.refused_count + len(refused),
            refused=(*self.refused, *refused)[:MAX_REFUSED],
            updated_at=now,
        )

    def seen(self, *, now: datetime) -> ImportJob:
        """The job as it stands now: `interrupted` if nothing has happened to a running one for `SILENT_SEC`."""
        is_silent = (now - self.updated_at).total_seconds() > SILENT_SEC
        return replace(self, status="interrupted") if self.status == "running" and is_silent else self
