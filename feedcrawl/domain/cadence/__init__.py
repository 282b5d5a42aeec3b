"""Cadence: when a feed or sitemap is polled again, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.public_names import imported_later

if TYPE_CHECKING:
    from feedcrawl.domain.cadence.decision import at_least, fixed, next_poll, once_answered
    from feedcrawl.domain.cadence.state import from_json, to_json
    from feedcrawl.domain.cadence.values import CadencePolicy, Candidate, Decision, Observation, PollState

__all__ = [
    "CadencePolicy",
    "Candidate",
    "Decision",
    "Observation",
    "PollState",
    "at_least",
    "fixed",
    "from_json",
    "next_poll",
    "once_answered",
    "to_json",
]

if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
    __getattr__ = imported_later(__name__)
