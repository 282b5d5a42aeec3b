"""The priority of a task: 1 (taken last) to 10 (taken first)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from feedcrawl.domain.frontier.tasks import Origin

LOWEST: Final = 1
HIGHEST: Final = 10
DEFAULT: Final = 5

# URLs in a feed are news; URLs in a sitemap may be news; all others were announced by no publisher.
ORIGIN_BONUS: Final[dict[Origin, int]] = {"feed": 2, "sitemap": 1, "spider": 0, "manual": 0, "queue": 0}


def priority(source: int, origin: Origin, depth: int = 0) -> int:
    """The source's priority (1–10) plus the bonus of the origin, minus one per link followed, clamped to 1 … 10."""
    return min(max(source + ORIGIN_BONUS[origin] - depth, LOWEST), HIGHEST)
