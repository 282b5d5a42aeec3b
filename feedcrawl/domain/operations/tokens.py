"""Tokens of the API: 256 bits of chance that callers show, of which only the sha256 is kept."""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import Final, Literal, get_args

from feedcrawl.domain.errors import Refusal

Scope = Literal["read", "write", "admin"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
"""Each has those before it too."""
TOKEN_BYTES: Final = 32
_PREFIX: Final = "fct_"
_TOKEN: Final = re.compile(rf"{_PREFIX}[A-Za-z0-9_-]{{43}}")
_ACTOR: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9@._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token. `id` names it for its operator, and is no secret; `created_at` is RFC 3339."""

    id: str
    digest: str
    actor: str
    scope: Scope
    created_at: str


def token_text(chance: bytes) -> str:
    """A token as its caller shows it, made of `TOKEN_BYTES` bytes of chance."""
    return _PREFIX + urlsafe_b64encode(chance).decode().rstrip("=")


def token_digest(text: str) -> str | None:
    """What is kept of a token; None for a text that is none."""
    return hashlib.sha256(text.encode()).hexdigest() if _TOKEN.fullmatch(text) else None


def new_token(digest: str, actor: str, scope: str, at: str) -> Token:
    """Refusal (`bad_actor` `bad_scope`) for what cannot be meant."""
    if not _ACTOR.fullmatch(actor):
        raise Refusal("bad_actor", "an actor's name has up to 64 letters, digits and @ . _ -, and begins with one")
    for each in SCOPES:
        if each == scope:
            return Token(digest[:12], digest, actor, each, at)
    raise Refusal("bad_scope", f"a scope is one of {', '.join(SCOPES)}, not {scope[:50]!r}")


def granted(scope: Scope) -> frozenset[Scope]:
    """All that a scope allows: whoever may write may read, and an admin may do both."""
    return frozenset(SCOPES[: SCOPES.index(scope) + 1])
