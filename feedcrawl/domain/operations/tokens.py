"""Tokens of the API: 256 random bits that a caller sends, of which only the sha256 is stored."""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import Final, Literal, get_args

from feedcrawl.domain.errors import Refusal

Scope = Literal["read", "write", "admin"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
"""Each scope includes those before it."""
TOKEN_BYTES: Final = 32
_PREFIX: Final = "fct_"
_TOKEN: Final = re.compile(rf"{_PREFIX}[A-Za-z0-9_-]{{43}}")
_ACTOR: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9@._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Token:
    """The stored record of a token. `id` names the token for operators and is no secret; `created_at` is RFC 3339."""

    id: str
    digest: str
    actor: str
    scope: Scope
    created_at: str


def token_text(chance: bytes) -> str:
    """A token as its caller sends it, made of `TOKEN_BYTES` random bytes."""
    return _PREFIX + urlsafe_b64encode(chance).decode().rstrip("=")


def token_digest(text: str) -> str | None:
    """The sha256 of a token in hex, as stored; None if the text is no token."""
    return hashlib.sha256(text.encode()).hexdigest() if _TOKEN.fullmatch(text) else None


def new_token(digest: str, actor: str, scope: str, at: str) -> Token:
    """The record of a new token; Refusal (`bad_actor`, `bad_scope`) for an invalid actor or scope."""
    if not _ACTOR.fullmatch(actor):
        raise Refusal(
            "bad_actor", "an actor's name has up to 64 letters, digits and @ . _ -, and begins with a letter or digit"
        )
    for each in SCOPES:
        if each == scope:
            return Token(digest[:12], digest, actor, each, at)
    raise Refusal("bad_scope", f"the scope must be one of {', '.join(SCOPES)}, not {scope[:50]!r}")


def granted(scope: Scope) -> frozenset[Scope]:
    """All scopes that a scope includes: `write` includes `read`, `admin` includes both."""
    return frozenset(SCOPES[: SCOPES.index(scope) + 1])
