"""The trace (W3C Trace Context) that a task passes to the tasks that follow from it, as a field of the payload."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from feedcrawl.domain.frontier.payloads import Payload

TRACE: Final = "trace"
"""The name of the payload field; the field is absent while tracing is off."""
_TRACEPARENT: Final = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}")


def traceparent(payload: Payload) -> str | None:
    """The task's `00-<trace id>-<span id>-<flags>`, whose span is the task's; None if absent or invalid."""
    found = payload.get(TRACE)
    return found if isinstance(found, str) and _TRACEPARENT.fullmatch(found) else None


def carried(payload: Payload) -> Payload:
    """The trace field for the payload of a task that follows from this task; empty if this task has no trace."""
    found = traceparent(payload)
    return {"trace": found} if found else {}


def trace_id(payload: Payload) -> str | None:
    """The trace id: 32 hex digits, the same for a poll and all tasks that follow from it."""
    found = traceparent(payload)
    return found.split("-")[1] if found else None
