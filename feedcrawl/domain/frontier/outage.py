"""Whether it is our own network that fails: then nothing is counted against hosts, URLs or feeds.

One worker judges for itself, since workers need not share a way to the web. Only failures of the way are evidence; a
host that answers badly answers.
"""

from __future__ import annotations

from typing import Final

OF_THE_WAY: Final = frozenset({"dns", "refused", "unreachable", "connect_timeout", "tls"})
"""Reasons for which a host was not reached at all."""
WINDOW_SEC: Final = 60.0
"""For how long what a host came to is evidence; of each host, its last answer or failure."""
LONGEST_SEC: Final = 600.0
"""How long it may last while others answer all along: then it is the hosts that are away."""
LOOK_SEC: Final = 5.0
"""How often one host is asked while none answers."""
AGAIN_SEC: Final = 30.0
"""When a task that failed in an outage comes again."""


def step(since: float | None, now: float, *, failed: int, asked: int) -> float | None:
    """Since when it is our own outage or None, after `asked` hosts of the last minute, some of which `failed`.

    It begins where half of at least ten fail. It is over when half no longer do and one has answered.
    """
    if since is None:
        return now if over_budget(failed, asked) else None
    if failed == asked:
        return since
    return since if over_budget(failed, asked) and now - since <= LONGEST_SEC else None


def over_budget(failures: int, total: int) -> bool:
    """Whether half of at least ten have failed.

    Of one feed's polls of a day: the feed's own circuit opens. Of the hosts asked within a minute: it is our own
    outage, and nothing is counted against anyone.
    """
    return total >= 10 and 2 * failures >= total
