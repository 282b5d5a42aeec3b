"""The delay between two requests to one host: configured, requested by robots.txt, doubled by 429s."""

from __future__ import annotations

MAX_DOUBLED_MS = 120_000


def base_delay_sec(crawl_delay_sec: float, own_sec: float, longest_sec: float) -> float:
    """Our own delay, or a longer Crawl-delay of robots.txt up to `longest_sec`."""
    return max(own_sec, min(crawl_delay_sec, longest_sec))


def effective_delay_ms(delay_ms: int, doublings: int) -> int:
    """The delay doubled `doublings` times, up to 120 s; never less than the delay. `slots.lua` has the same rule."""
    return min(delay_ms << doublings, max(delay_ms, MAX_DOUBLED_MS))
