"""How a trace goes on from one task to those that come of it: W3C Trace Context, as one word of a task's payload."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

TRACE: Final = "trace"
"""The name of that word; there is none while nobody traces."""
_TRACEPARENT: Final = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}")


def traceparent(payload: Mapping[str, Any]) -> str | None:
    """`00-<trace id>-<span id>-<flags>`, the span being the task's; None where there is none that can be read."""
    found = payload.get(TRACE)
    return found if isinstance(found, str) and _TRACEPARENT.fullmatch(found) else None


def carried(payload: Mapping[str, Any]) -> dict[str, str]:
    """What the payload of a task that comes of this one has of its trace."""
    found = traceparent(payload)
    return {TRACE: found} if found else {}


def trace_id(payload: Mapping[str, Any]) -> str | None:
    """32 hex digits, the same for a poll and all that comes of it."""
    found = traceparent(payload)
    return found.split("-")[1] if found else None
