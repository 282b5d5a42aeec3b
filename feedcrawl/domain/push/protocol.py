"""The protocol between us and hubs (W3C WebSub): topics, callbacks, intents, signatures, and leases in seconds."""

from __future__ import annotations

import hashlib
import hmac
import re
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from feedcrawl.domain.discovery.link_headers import header_links
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

REQUESTED_LEASE_SEC = 7 * 86_400.0
MIN_LEASE_SEC, MAX_LEASE_SEC = 3_600.0, 10 * 86_400.0
"""Bounds of a lease: a shorter lease counts as the least, a longer one as the greatest."""
ABSURD_LEASE_SEC = 366 * 86_400.0

_CHANCE_BYTES = 32
_CHALLENGE = re.compile(r"""[!#-%(-;=?-~]{1,1024}""")
_ALGORITHMS = ("sha256", "sha384", "sha512")

Protocol = Literal["websub", "rsscloud"]


@dataclass(frozen=True, slots=True)
class Topic:
    """The URLs of a subscription: the hub, and the topic that is subscribed to; and the protocol of the hub."""

    hub: str
    topic: str
    protocol: Protocol = "websub"


@dataclass(frozen=True, slots=True)
class Intent:
    """A hub's GET request on a callback (WebSub section 5.3): values as received, None if absent."""

    mode: str | None
    topic: str | None
    challenge: str | None = None
    lease: str | None = None
    reason: str | None = None


def topic_of(links: Iterable[str], hubs: Sequence[str], self_url: str | None, *, url: str) -> Topic | None:
    """The hub and topic of a feed: from its Link headers (RFC 8288), else from its document (WebSub section 4).

    Among several hubs one with https is preferred. The topic of a feed without a "self" link is the URL it was fetched
    from. None if the feed names no hub.
    """
    named = [(link.target, rel) for link in header_links(links) for rel in link.rels]
    found = [target for target, rel in named if rel == "hub"] or list(hubs)
    own = next((target for target, rel in named if rel == "self"), None) or self_url or url
    topic = _absolute(own, url) or url
    if own.startswith(("http://", "https://")) and topic != url:
        topic = own  # as its publisher writes it: hubs compare topics as strings
    absolute = [target for hub in found if (target := _absolute(hub, url))]
    return Topic(min(absolute, key=lambda hub: not hub.startswith("https:")), topic) if absolute else None


def _absolute(href: str, base: str) -> str | None:
    try:
        return resolve(href, base=base)
    except InvalidUrl:
        return None


def token_of(feed_id: str, chance: bytes) -> str:
    """The token of a callback's path: the feed's id and 256 random bits (`chance`)."""
    return urlsafe_b64encode(uuid.UUID(feed_id).bytes + chance).decode()


def feed_of(token: str) -> str | None:
    """The feed id in a token; None if the text is no token."""
    try:
        raw = urlsafe_b64decode(token.encode("ascii"))
    except ValueError:
        return None
    return str(uuid.UUID(bytes=raw[:16])) if len(raw) == 16 + _CHANCE_BYTES and token == _encoded(raw) else None


def _encoded(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode()


def digest_of(token: str) -> str:
    """The stored form of a token: its sha256 (hex)."""
    return hashlib.sha256(token.encode()).hexdigest()


def lease_sec(text: str | None) -> float | None:
    """Seconds of a lease, within bounds; the requested time if the hub names none, None if the value is invalid."""
    if not text:
        return REQUESTED_LEASE_SEC
    seconds = float(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0.0
    return min(max(seconds, MIN_LEASE_SEC), MAX_LEASE_SEC) if 0 < seconds <= ABSURD_LEASE_SEC else None


def signature_refusal(secret: str, signatures: Sequence[str], body: bytes, *, sha1: bool = False) -> str:
    """The reason code if X-Hub-Signature does not prove that the hub sent the delivery (WebSub section 7.1), else "".

    SHA-1, which may become forgeable, is accepted only if an operator allows it (`sha1`).
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
    """True if a challenge may be echoed: 1 to 1024 visible ASCII characters without markup."""
    return text is not None and _CHALLENGE.fullmatch(text) is not None
