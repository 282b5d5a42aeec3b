"""What is said between us and hubs (W3C WebSub): topics, callbacks, intents, signatures, and leases in seconds."""

from __future__ import annotations

import hashlib
import hmac
import re
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ASKED_LEASE_SEC = 7 * 86_400.0
MIN_LEASE_SEC, MAX_LEASE_SEC = 3_600.0, 10 * 86_400.0
"""Between which a hub's lease is taken as it says: a shorter one is renewed no sooner, a longer one no later."""
ABSURD_LEASE_SEC = 366 * 86_400.0

_CHANCE_BYTES = 32
MAX_LINKS, MAX_LINK_CHARS = 8, 2_048
"""Link headers that are read, and characters of each: anybody may send them, and long ones."""

_LINK = re.compile(r"""<([^<>]*)>|;[ \t]*rel[ \t]*=[ \t]*(?:"([^"]*)"|([^\s",;]+))|"(?:[^"\\]|\\.)*\"""", re.IGNORECASE)
"""A target, a relation of the target before it, or a quoted string that is neither."""
_CHALLENGE = re.compile(r"""[!#-%(-;=?-~]{1,1024}""")
_ALGORITHMS = ("sha256", "sha384", "sha512")


@dataclass(frozen=True, slots=True)
class Topic:
    """What is subscribed to, and where."""

    hub: str
    topic: str


@dataclass(frozen=True, slots=True)
class Intent:
    """What a hub says in a GET on a callback (WebSub section 5.3): all as it came, None where it said nothing."""

    mode: str | None
    topic: str | None
    challenge: str | None = None
    lease: str | None = None
    reason: str | None = None


def topic_of(links: Iterable[str], hubs: Sequence[str], self_url: str | None, *, url: str) -> Topic | None:
    """The hub and topic that a feed names: its Link headers first (RFC 8288), then its document (WebSub section 4).

    Of several hubs one with https is taken. A feed that does not name itself is the topic by the URL it came from.
    """
    said = [(target, rel) for value in islice(links, MAX_LINKS) for target, rel in _relations(value)]
    found = [target for target, rel in said if rel == "hub"] or list(hubs)
    own = next((target for target, rel in said if rel == "self"), None) or self_url or url
    topic = _absolute(own, url) or url
    if own.startswith(("http://", "https://")) and topic != url:
        topic = own  # as its publisher writes it: hubs compare letter by letter
    absolute = [each for hub in found if (each := _absolute(hub, url))]
    return Topic(min(absolute, key=lambda hub: not hub.startswith("https:")), topic) if absolute else None


def _relations(value: str) -> Iterator[tuple[str, str]]:
    target: str | None = None
    for found in _LINK.finditer(value[:MAX_LINK_CHARS]):
        if found[1] is not None:
            target = found[1].strip()
        elif target is not None and (rels := found[2] or found[3]):
            yield from ((target, each) for each in rels.lower().split())


def _absolute(href: str, base: str) -> str | None:
    try:
        return resolve(href, base=base)
    except InvalidUrl:
        return None


def token_of(feed_id: str, chance: bytes) -> str:
    """The secret part of a callback's path: which feed it is of, and 256 bits of chance."""
    return urlsafe_b64encode(uuid.UUID(feed_id).bytes + chance).decode()


def feed_of(token: str) -> str | None:
    """The feed's id out of a token; None for what cannot be one."""
    try:
        raw = urlsafe_b64decode(token.encode("ascii"))
    except ValueError:
        return None
    return str(uuid.UUID(bytes=raw[:16])) if len(raw) == 16 + _CHANCE_BYTES and token == _encoded(raw) else None


def _encoded(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode()


def digest_of(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def lease_sec(text: str | None) -> float | None:
    """How long a lease holds; the time that we asked for where the hub says none, and None where it says nonsense."""
    if not text:
        return ASKED_LEASE_SEC
    seconds = float(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0.0
    return min(max(seconds, MIN_LEASE_SEC), MAX_LEASE_SEC) if 0 < seconds <= ABSURD_LEASE_SEC else None


def signature_refusal(secret: str, signatures: Sequence[str], body: bytes, *, sha1: bool = False) -> str:
    """Why a delivery's X-Hub-Signature does not show that the hub sent it (WebSub section 7.1); "" if it does.

    SHA-1, which anybody may forge one day, counts only where an operator allows it.
    """
    if len(signatures) != 1:
        return "two_signatures" if signatures else "unsigned"
    method, _, digest = signatures[0].strip().partition("=")
    if method not in (*_ALGORITHMS, "sha1"):
        return "unknown_signature"
    if method == "sha1" and not sha1:
        return "sha1_refused"
    right = hmac.new(secret.encode(), body, method).hexdigest()
    return "" if hmac.compare_digest(right.encode(), digest.encode("utf-8", "replace")) else "bad_signature"


def is_challenge(text: str | None) -> bool:
    """Whether a challenge may be echoed: visible characters of ASCII, at most 1 024, and no markup."""
    return text is not None and _CHALLENGE.fullmatch(text) is not None
