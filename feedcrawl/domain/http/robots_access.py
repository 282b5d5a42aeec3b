"""What a robots.txt, or the lack of one, means for asking a host (RFC 9309, 2.3.1)."""

from __future__ import annotations

from typing import Literal

Access = Literal["rules", "allow", "disallow", "wait"]

RETRY_SEC = 60.0
"""How long a robots.txt that failed is left alone before it is asked again."""
MAX_BYTES = 512 << 10
"""How much of one is read (RFC 9309, 2.5 asks for 500 KiB at least)."""


def access(status: int, *, failing_sec: float, grace_sec: float, on_error: str) -> Access:
    """What holds while the last answer was `status` (0: no answer) and it has been failing for `failing_sec`.

    2xx: its rules. 4xx, and redirects that led nowhere: there is none, all is allowed (2.3.1.3). 5xx, 429 and no
    answer: nothing is asked for the grace (2.3.1.4), after which the operator's choice holds.
    """
    if 200 <= status < 300:
        return "rules"
    if 300 <= status < 500 and status != 429:
        return "allow"
    if failing_sec < grace_sec:
        return "wait"
    return "allow" if on_error == "allow" else "disallow"
