"""Cadence: when a feed or sitemap is polled again, and why."""

from __future__ import annotations

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
