"""Creates and recognises tokens, for the command and the API."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.operations.tokens import TOKEN_BYTES, new_token, token_digest, token_text

if TYPE_CHECKING:
    from datetime import datetime

    from feedcrawl.domain.operations.tokens import Token
    from feedcrawl.store.operations.tokens import Tokens


def create(tokens: Tokens, actor: str, scope: str, now: datetime) -> tuple[str, Token]:
    """A new token as its caller presents it (returned only once), and its stored record. Raises Refusal as
    `new_token` does.
    """
    text = token_text(secrets.token_bytes(TOKEN_BYTES))
    digest = token_digest(text)
    assert digest is not None
    token = new_token(digest, actor, scope, rfc3339(now))
    tokens.add(token)
    return text, token


def find(tokens: Tokens, text: str) -> Token | None:
    """The token, or None if unknown or revoked."""
    digest = token_digest(text)
    if digest is None:
        return None
    return tokens.find(digest)
