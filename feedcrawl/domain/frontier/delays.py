"""The delay between two requests to one host, in milliseconds: configured, requested by robots.txt, doubled by 429s."""

from __future__ import annotations

import math

MAX_DELAY_MS = 120_000


def base_delay(crawl_delay_sec: float | None, source_ms: int | None, default_ms: int) -> int:
    """Milliseconds between two requests: the larger of robots.txt's Crawl-delay and our own delay.

    Our own delay is the source's setting, else the default. A Crawl-delay counts up to 120 s; a value that is not a
    positive number is ignored.
    """
    ours = default_ms if source_ms is None else source_ms
    if crawl_delay_sec is None or not crawl_delay_sec > 0:
        return ours
    return max(ours, MAX_DELAY_MS if crawl_delay_sec * 1_000 >= MAX_DELAY_MS else math.ceil(crawl_delay_sec * 1_000))


def effective_delay(delay: int, doublings: int) -> int:
    """The delay doubled `doublings` times, up to 120 s; never less than the delay. `slots.lua` has the same rule."""
    return min(delay << doublings, max(delay, MAX_DELAY_MS))
