"""Progress of the import of a long list of feeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

MAX_REFUSED: Final = 1_000
"""Maximum number of refused feeds that a job stores, the first ones; `refused_count` counts all."""
SILENT_SEC: Final = 60.0
"""Time without progress after which a running job counts as interrupted, because its process has ended."""


@dataclass(frozen=True, slots=True)
class ImportJob:
    """An import, with the numbers of feeds that are listed, done, subscribed and refused.

    `subscribed` counts a feed once, even if the list has the feed twice or the feed was subscribed before. `left_out`
    is the number of feeds beyond the limit of one list. `status` is `running`, `done` or `interrupted`. Times are aware
    UTC.
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
        """The job after more feeds were processed; its status is `done` after the last."""
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
        """The job at `now`: `interrupted` if the job was running and made no progress for `SILENT_SEC`."""
        is_silent = (now - self.updated_at).total_seconds() > SILENT_SEC
        return replace(self, status="interrupted") if self.status == "running" and is_silent else self
