"""Which validators are sent with a poll, and when none are: a server is trusted until one of these faults is found.

    constant   the same validator for a different document: its 304 may hide news
    restless   a different ETag for the same document each time: never leads to a 304, and overrides the date
    future     a Last-Modified in the future: the server may report nothing newer for years
    deaf       304 to a version that the server itself has replaced

A validator with a fault is stored, but not sent until later responses have proved it. A server that answers 304 for a
long time is polled once without validators (a probe). If the probe brings news, the next request sends the validators
of the previous version, to which no correct server responds with 304 (a test).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from feedcrawl.domain.http.conditional import Validators
from feedcrawl.domain.http.hints import DAY_SEC, http_date
from feedcrawl.domain.json_values import known_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

Fault = Literal["constant", "restless", "future", "deaf"]
Kind = Literal["plain", "conditional", "probe", "test"]

MIN_UNMODIFIED: Final = 3
"""Number of 304s before a probe, so that a feed polled once a day is not probed at each poll."""
SURPRISING: Final = 5.0
"""Number of arrivals expected since the last document; that none came has a probability below one in a hundred."""
STRIKES: Final = 3
PROOFS: Final = 3
CLOCK_SKEW_SEC: Final = 300.0


@dataclass(frozen=True, slots=True)
class Trust:
    """The trust in a feed's validators. `etag` and `last_modified` are the fault for which that validator is not sent.

    `whole_at` and `probed_at` (Unix seconds) are the times of the last document and of the last probe, `unmodified` the
    number of 304s since the last document. `strikes` counts successive documents that differ only in their ETag,
    `proofs` successive documents whose validators were right. `old` has the validators of the previous version, which
    the next request sends if `test`.
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

    def to_record(self) -> dict[str, object]:
        """The trust as JSON values; empty fields are left out."""
        values = ((name, getattr(self, name)) for name in self.__dataclass_fields__)
        return {name: value for name, value in values if value}

    @property
    def marks(self) -> tuple[str, ...]:
        """The validators that are not sent, each with its fault, such as `etag: restless`."""
        found = (("etag", self.etag), ("last_modified", self.last_modified))
        return tuple(f"{name}: {fault}" for name, fault in found if fault)


def trust_from(record: Mapping[str, object] | None) -> Trust:
    """The trust from a record that `to_record` of this or another version wrote."""
    if not record:
        return Trust()
    known = known_fields(Trust, record)
    return Trust(**known | ({"old": tuple(known["old"])} if "old" in known else {}))


@dataclass(frozen=True, slots=True)
class Preconditions:
    """The validators of a request, and the purpose of the request."""

    kind: Kind
    validators: Validators


@dataclass(frozen=True, slots=True)
class Reply:
    """A usable response. `stored` are the validators stored before it; `unmodified` is True for a 304.

    Of a document: `first` if it is the feed's first, `changed` if its content differs for a reader, `news` if it has
    news.
    """

    kind: Kind
    stored: Validators
    received: Validators
    unmodified: bool = False
    first: bool = False
    changed: bool = False
    news: bool = False


def trusted(stored: Validators, trust: Trust) -> Validators:
    """The stored validators without a fault."""
    return Validators(None if trust.etag else stored.etag, None if trust.last_modified else stored.last_modified)


def may_probe(trust: Trust, now: float) -> bool:
    """True if a probe is allowed: at most once a day, and after MIN_UNMODIFIED 304s."""
    return trust.unmodified >= MIN_UNMODIFIED and now - trust.probed_at >= DAY_SEC


def preconditions(trust: Trust, stored: Validators, *, now: float, expected: float) -> Preconditions:
    """The request at `now` (Unix seconds); `expected` is the number of arrivals expected since the last document."""
    if trust.test and trust.old is not None:
        return Preconditions("test", Validators(*trust.old))
    usable = trusted(stored, trust)
    if usable == Validators():
        return Preconditions("plain", usable)
    if may_probe(trust, now) and (expected >= SURPRISING or now - trust.whole_at >= DAY_SEC):
        return Preconditions("probe", Validators())
    return Preconditions("conditional", usable)


def after(trust: Trust, reply: Reply, now: float) -> Trust:
    """The trust after a response at `now` (Unix seconds)."""
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
    """The trust after a 304 to a replaced version: both sent validators are at fault, since either may be the cause."""
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
    """The trust after another document: validators must change if the document changed, and only then."""
    stored, received = reply.stored, reply.received
    same_etag = received.etag is not None and received.etag == stored.etag
    same_date = received.last_modified is not None and received.last_modified == stored.last_modified
    strikes = trust.strikes + 1 if received.etag and stored.etag and not (same_etag or reply.changed) else 0
    fits = not (same_etag or same_date) if reply.changed else same_etag or received.etag is None
    trust = replace(trust, strikes=min(strikes, STRIKES), proofs=min(trust.proofs + 1, PROOFS) if fits else 0)
    if reply.kind == "test":  # the server distinguished the versions
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
    """True if the validators of a deaf server may be tested again: at most once a day, after PROOFS right documents."""
    deaf = "deaf" in (trust.etag, trust.last_modified)
    return deaf and trust.proofs >= PROOFS and now - trust.probed_at >= DAY_SEC


def _to_be_tested(trust: Trust, reply: Reply) -> Trust:
    """The trust whose next request sends the validators of the previous version, if any of them has changed since."""
    stored, received = reply.stored, reply.received
    etag = stored.etag if stored.etag != received.etag else None
    date = stored.last_modified if stored.last_modified != received.last_modified else None
    return replace(trust, old=(etag, date), test=True) if etag or date else trust


def _dated(trust: Trust, received: Validators, now: float) -> Trust:
    """The trust with the fault `future` while Last-Modified lies in the future (RFC 9110, 8.8.2.1)."""
    moment = http_date(received.last_modified) if received.last_modified else None
    if moment is not None and moment.timestamp() > now + CLOCK_SKEW_SEC:
        return replace(trust, last_modified="future")
    return _cleared(trust, "future")
