"""Which validators a feed is asked with, and when it is asked without: a server is believed until it is found out.

    constant   the same validator for another document: its 304 may hide news
    restless   another ETag for the same document each time: it never brings a 304, and hides the date behind it
    future     a Last-Modified that lies ahead: a server may find nothing newer for years
    deaf       304 to a version that the server itself has replaced

What is marked is kept, and not sent until it has proved itself. A server that answers 304 for long is asked once
without validators; if that brings news, the next request names the version before it, which no honest answer to is 304.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from feedcrawl.domain.http.conditional import Validators
from feedcrawl.domain.http.hints import http_date

if TYPE_CHECKING:
    from collections.abc import Mapping

Fault = Literal["constant", "restless", "future", "deaf"]
Kind = Literal["plain", "conditional", "probe", "test"]

DAY_SEC: Final = 86_400.0
MIN_UNMODIFIED: Final = 3
"""304s before a probe: a feed that is polled once a day is not probed each time."""
SURPRISING: Final = 5.0
"""Arrivals foretold since the last document; that none came has a chance of less than one in a hundred."""
STRIKES: Final = 3
PROOFS: Final = 3
CLOCK_SKEW_SEC: Final = 300.0


@dataclass(frozen=True, slots=True)
class Trust:
    """What a feed's validators are worth. `etag` and `last_modified`: why that one is not sent.

    `whole_at` and `probed_at` (Unix seconds): when a document last came, and was last asked for without validators to
    see whether there is news; `unmodified`: 304s since a document came. `strikes`: documents in a row with another ETag
    and nothing else; `proofs`: documents in a row whose validators fit. `old` are those of the version before, which
    the next request says if `test`.
    """

    etag: Fault | None = None
    last_modified: Fault | None = None
    whole_at: float = 0.0
    probed_at: float = 0.0
    unmodified: int = 0
    strikes: int = 0
    proofs: int = 0
    old: tuple[str | None, str | None] | None = None
    test: bool = False

    def to_record(self) -> dict[str, Any]:
        """As JSON values, what says nothing left out."""
        return {name: value for name, value in asdict(self).items() if value}

    @property
    def marks(self) -> tuple[str, ...]:
        """What is not sent, and why: `etag: restless`."""
        found = (("etag", self.etag), ("last_modified", self.last_modified))
        return tuple(f"{name}: {fault}" for name, fault in found if fault)


def trust_from(record: Mapping[str, Any] | None) -> Trust:
    """The trust that `to_record` wrote, of this or another version."""
    known = {name: value for name, value in (record or {}).items() if name in Trust.__dataclass_fields__}
    return Trust(**known | ({"old": tuple(known["old"])} if "old" in known else {}))


@dataclass(frozen=True, slots=True)
class Question:
    """How to ask: with these validators, and to what end."""

    kind: Kind
    validators: Validators


@dataclass(frozen=True, slots=True)
class Reply:
    """A usable answer. `held` are the validators from before it; `unmodified` a 304.

    Of a document: whether it is the `first`, whether it `changed` (says something else to a reader), has `news`.
    """

    kind: Kind
    held: Validators
    received: Validators
    unmodified: bool = False
    first: bool = False
    changed: bool = False
    news: bool = False


def trusted(held: Validators, trust: Trust) -> Validators:
    """The validators that are not marked."""
    return Validators(None if trust.etag else held.etag, None if trust.last_modified else held.last_modified)


def may_probe(trust: Trust, now: float) -> bool:
    """Whether a probe is possible at all: once a day, and not before some 304s."""
    return trust.unmodified >= MIN_UNMODIFIED and now - trust.probed_at >= DAY_SEC


def question(trust: Trust, held: Validators, *, now: float, expected: float) -> Question:
    """How to ask at `now`, `expected` arrivals after the last document."""
    if trust.test and trust.old is not None:
        return Question("test", Validators(*trust.old))
    usable = trusted(held, trust)
    if usable == Validators():
        return Question("plain", usable)
    if may_probe(trust, now) and (expected >= SURPRISING or now - trust.whole_at >= DAY_SEC):
        return Question("probe", Validators())
    return Question("conditional", usable)


def after(trust: Trust, reply: Reply, now: float) -> Trust:
    """The trust after an answer at `now` (Unix seconds)."""
    if reply.unmodified:
        return _deaf(trust, now) if reply.kind == "test" else replace(trust, unmodified=trust.unmodified + 1, strikes=0)
    probed_at = now if reply.kind == "probe" else trust.probed_at
    seen = replace(trust, whole_at=round(now), probed_at=round(probed_at), unmodified=0, test=False, old=None)
    judged = seen if reply.first else _weighed(seen, reply)
    suspected = reply.kind == "probe" and trust.unmodified > 0
    if not reply.first and reply.changed and (suspected or _has_proof(judged, now)):
        judged = _to_be_tested(judged, reply)
    return _dated(judged, reply.received, now)


def _deaf(trust: Trust, now: float) -> Trust:
    """A 304 to a version that has been replaced: both are marked, since it cannot be told which was heard."""
    etag, last_modified = trust.old or (None, None)
    return replace(
        trust,
        etag="deaf" if etag else trust.etag,
        last_modified="deaf" if last_modified else trust.last_modified,
        probed_at=round(now),
        proofs=0,
        old=None,
        test=False,
    )


def _weighed(trust: Trust, reply: Reply) -> Trust:
    """The marks after one more document, by whether its validators changed when it did."""
    held, received = reply.held, reply.received
    same_etag = received.etag is not None and received.etag == held.etag
    same_date = received.last_modified is not None and received.last_modified == held.last_modified
    strikes = trust.strikes + 1 if received.etag and held.etag and not (same_etag or reply.changed) else 0
    fits = not (same_etag or same_date) if reply.changed else same_etag or received.etag is None
    trust = replace(trust, strikes=min(strikes, STRIKES), proofs=min(trust.proofs + 1, PROOFS) if fits else 0)
    if reply.kind == "test":  # it told the versions apart
        trust = _cleared(trust, "deaf")
    if trust.proofs >= PROOFS:
        trust = _cleared(trust, "constant", "restless")
    if same_etag and reply.news:
        trust = replace(trust, etag="constant")
    elif strikes >= STRIKES:
        trust = replace(trust, etag="restless")
    return replace(trust, last_modified="constant") if same_date and reply.news else trust


def _cleared(trust: Trust, *faults: Fault) -> Trust:
    return replace(
        trust,
        etag=None if trust.etag in faults else trust.etag,
        last_modified=None if trust.last_modified in faults else trust.last_modified,
    )


def _has_proof(trust: Trust, now: float) -> bool:
    """Whether a deaf server may show once a day that it hears again."""
    deaf = "deaf" in (trust.etag, trust.last_modified)
    return deaf and trust.proofs >= PROOFS and now - trust.probed_at >= DAY_SEC


def _to_be_tested(trust: Trust, reply: Reply) -> Trust:
    """The next request names the version before, by the validators that have changed since."""
    held, received = reply.held, reply.received
    etag = held.etag if held.etag != received.etag else None
    date = held.last_modified if held.last_modified != received.last_modified else None
    return replace(trust, old=(etag, date), test=True) if etag or date else trust


def _dated(trust: Trust, received: Validators, now: float) -> Trust:
    """A Last-Modified in the future is marked as long as it is one (RFC 9110, 8.8.2.1)."""
    moment = http_date(received.last_modified) if received.last_modified else None
    if moment is not None and moment.timestamp() > now + CLOCK_SKEW_SEC:
        return replace(trust, last_modified="future")
    return _cleared(trust, "future")
