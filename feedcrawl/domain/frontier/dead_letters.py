"""Dead letters: URLs that were given up, with the data for a new try, and the filter that selects some of them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast, get_args

from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.frontier.payloads import OF_REDIRECTS, without
from feedcrawl.domain.frontier.tasks import Kind, Origin, Task
from feedcrawl.domain.secrets import record_without_secrets, without_secrets
from feedcrawl.domain.urls import hostname, resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from feedcrawl.domain.frontier.payloads import Payload

_ID: Final[dict[Kind, re.Pattern[str]]] = {
    "article": re.compile(r"[0-9a-f]{16}"),
    "page": re.compile(r"page:.+"),
    "archive": re.compile(r"archive:.+"),
    "gap": re.compile(r"gap:.+"),
    "file": re.compile(r"file:[0-9a-f]{32}"),
    "listing": re.compile(r"listing:[0-9a-f]{16}"),
}
_FRONTIER_REASONS: Final = frozenset({"lease_expired", "callback_failed", "pipeline_failed", "task_unusable"})
"""Reasons with which the frontier itself gives a task up, because the task's worker died or released the task."""
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A dead letter: its text as stored in the list, and the fields of that text (empty if it is no JSON object)."""

    text: str
    fields: Mapping[str, object]

    @property
    def name(self) -> str:
        """The URL; if there is none, the queue item that could not be read, else the whole text."""
        return str(self.fields.get("url") or self.fields.get("item") or self.text)

    @property
    def reason(self) -> str:
        """The reason code."""
        return str(self.fields.get("reason") or "")

    @property
    def host(self) -> str:
        """The hostname; empty if the name is no valid URL."""
        try:
            return hostname(self.name)
        except InvalidUrl:
            return ""

    @property
    def at(self) -> float:
        """Unix time at which the URL was given up; 0 if it has none."""
        at = self.fields.get("at")
        return float(at) if isinstance(at, (int, float)) else 0.0


@dataclass(frozen=True, slots=True)
class DeadLetterFilter:
    """A filter for dead letters: every condition that is set must hold. Times are Unix times, `names` uids or URLs."""

    reason: str | None = None
    host: str | None = None
    before: float | None = None
    after: float | None = None
    names: frozenset[str] = frozenset()

    def matches(self, dead_letter: DeadLetter) -> bool:
        """True if the dead letter passes the filter."""
        return (
            (self.reason is None or dead_letter.reason == self.reason)
            and (self.host is None or dead_letter.host == self.host)
            and (self.before is None or dead_letter.at < self.before)
            and (self.after is None or dead_letter.at > self.after)
            and (not self.names or not self._names().isdisjoint({dead_letter.name, str(dead_letter.fields.get("uid"))}))
        )

    def _names(self) -> set[str]:
        return {*self.names, *map(without_secrets, self.names)}


def read_dead_letter(text: str) -> DeadLetter:
    """The dead letter that an element of the list stores."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None
    return DeadLetter(text, record if isinstance(record, dict) else {})


def shown(text: str) -> str:
    """The text of a dead letter for other programs, with its secrets masked; unchanged if it has no secrets."""
    record = read_dead_letter(text).fields
    payload = payload_of(record)
    masked, masked_payload = record_without_secrets(record), record_without_secrets(payload)
    if masked == record and masked_payload == payload:
        return text
    if payload:
        masked["payload"] = json.dumps(masked_payload, separators=(",", ":"), ensure_ascii=False)
    return json.dumps(masked, separators=(",", ":"), ensure_ascii=False)


def is_unreported(dead_letter: DeadLetter) -> bool:
    """True if this dead letter is the only record that an article or a media file has ended."""
    return dead_letter.reason in _FRONTIER_REASONS and dead_letter.fields.get("kind") in ("article", "file")


def age_sec(text: str) -> float:
    """An age such as `90s`, `15m`, `12h` or `7d` in seconds; Refusal (`bad_age`) for any other text."""
    found = re.fullmatch(r"(\d{1,6}(?:\.\d+)?)([smhd])", text.strip())
    if found is None:
        raise Refusal("bad_age", f"{text!r} is not an age: write 90s, 15m, 12h or 7d")
    return float(found[1]) * _UNITS[found[2]]


def task_of(record: Mapping[str, object], priority: int) -> Task | None:
    """The task that became this dead letter, as first enqueued; None if kind and uid do not identify a task."""
    uid = record.get("uid")
    kind = next((each for each, form in _ID.items() if record.get("kind") == each and form.fullmatch(str(uid))), None)
    if kind is None or not isinstance(uid, str):
        return None
    payload = payload_of(record)
    chain = payload.get("redirect_chain")
    payload = without(payload, OF_REDIRECTS)
    url = resolve(str(chain[0] if isinstance(chain, list) and chain else record.get("url")))
    origin: Origin = next((each for each in get_args(Origin) if record.get("origin") == each), "queue")
    depth = record.get("depth", 0)
    return Task(
        id=uid,
        kind=kind,
        url=url,
        host=hostname(url),
        priority=priority,
        origin=origin,
        parent=_text(record.get("parent")),
        depth=depth if type(depth) is int and depth >= 0 else 0,
        source=_text(record.get("source")),
        category=_text(record.get("category")),
        payload=payload,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def payload_of(record: Mapping[str, object]) -> Payload:
    """The payload of the task, stored in the dead letter as JSON text; empty if absent or no JSON object."""
    text = record.get("payload")
    try:
        payload = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return cast("Payload", payload) if isinstance(payload, dict) else {}
