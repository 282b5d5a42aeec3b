"""Access to a host by the state of its robots.txt (RFC 9309, 2.3.1)."""

from __future__ import annotations

from typing import Literal

Access = Literal["rules", "allow", "disallow", "wait"]

RETRY_SEC = 60.0
"""Wait before a robots.txt that could not be read is requested again."""
MAX_BYTES = 512 << 10
"""Bytes of a robots.txt that are read (RFC 9309, 2.5 requires at least 500 KiB)."""


def access(status: int, *, failing_sec: float, grace_sec: float, on_error: str) -> Access:
    """The access after a response with `status` (0: no response) for a robots.txt that has failed for `failing_sec`.

    2xx: the file's rules. 4xx, or redirects that lead nowhere: there is no robots.txt, all is allowed (2.3.1.3). 5xx,
    429 or no response: no requests for `grace_sec` (2.3.1.4), then the operator's choice `on_error`.
    """
    if 200 <= status < 300:
        return "rules"
    if 300 <= status < 500 and status != 429:
        return "allow"
    if failing_sec < grace_sec:
        return "wait"
    return "allow" if on_error == "allow" else "disallow"
