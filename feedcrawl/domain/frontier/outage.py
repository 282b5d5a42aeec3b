"""Detects an outage of this worker's own network, during which no failure counts against hosts, URLs or feeds.

Each worker judges for itself, since workers may be in different networks. Only failures to reach a host are evidence;
an HTTP error is a response, so the network works.
"""

from __future__ import annotations

from typing import Final

OF_OWN_NETWORK: Final = frozenset({"dns", "refused", "unreachable", "connect_timeout", "tls"})
"""Failure reasons that mean that no connection to the host was made."""
OF_A_LOST_NETWORK: Final = frozenset({"dns", "refused", "unreachable"})
"""Failure reasons of a machine without network: few hosts suffice as evidence where all fail for these reasons."""
FEW_HOSTS: Final = 3
"""Least number of hosts that show an outage of our own network if every host of the window failed."""
MANY_HOSTS: Final = 10
"""Least number of hosts of which half show it."""
WINDOW_SEC: Final = 60.0
"""How long the last result of a host, a response or a failure, counts as evidence."""
LONGEST_SEC: Final = 600.0
"""Maximum duration of an outage while some hosts respond; after that the failing hosts themselves are at fault."""
TRIAL_SEC: Final = 5.0
"""Interval at which one host is tried while no host responds."""
RETRY_WAIT_SEC: Final = 30.0
"""Wait before a task that failed during an outage is tried again."""


def step(since: float | None, now: float, *, failed: int, requested: int, lost: int = 0) -> float | None:
    """Start of the outage of our own network, or None if there is none, from the hosts of the last minute.

    `requested` is the number of hosts, `failed` the number of those that could not be reached, `lost` the number of
    those that failed for a reason in OF_A_LOST_NETWORK. An outage starts when at least half of at least ten hosts
    failed, or when all of at least FEW_HOSTS hosts are lost. It ends when a host responds and less than half of at
    least ten fail, or after LONGEST_SEC when a host responds.
    """
    if since is None:
        return now if over_budget(failed, requested) or lost == requested >= FEW_HOSTS else None
    if failed == requested:
        return since
    return since if over_budget(failed, requested) and now - since <= LONGEST_SEC else None


def over_budget(failures: int, total: int) -> bool:
    """True if at least half of at least ten attempts failed.

    For the polls of one feed in a day, this opens the feed's own circuit. For the hosts requested within a minute, this
    is an outage of our own network, during which no failure counts.
    """
    return total >= MANY_HOSTS and 2 * failures >= total
