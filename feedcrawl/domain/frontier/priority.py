"""How soon a task is taken: 1 (last) … 10 (first)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from feedcrawl.domain.frontier.tasks import Origin

LOWEST: Final = 1
HIGHEST: Final = 10
DEFAULT: Final = 5

# What a feed names is news; what a sitemap names may be; the rest nobody announced.
ORIGIN_BONUS: Final[dict[Origin, int]] = {"feed": 2, "sitemap": 1, "spider": 0, "manual": 0, "queue": 0}


def priority(source: int, origin: Origin, depth: int = 0) -> int:
    """The source's priority (1–10) and the bonus of the origin, less one for each link followed, within 1 … 10."""
    return min(max(source + ORIGIN_BONUS[origin] - depth, LOWEST), HIGHEST)
