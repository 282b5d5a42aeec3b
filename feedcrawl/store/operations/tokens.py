"""The tokens of the API, by their sha256."""

from __future__ import annotations

import hmac
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from feedcrawl.domain.frontier.tasks import compact
from feedcrawl.domain.operations.tokens import Token
from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from feedcrawl.store.redis.client import Client


class Tokens:
    """Tokens by their sha256. Methods may raise StoreUnavailable."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def add(self, token: Token) -> None:
        """Stores a token."""
        self._client.hset(keys.TOKENS, token.digest, compact(asdict(token)))

    def find(self, digest: str) -> Token | None:
        """The token with this sha256, compared in constant time; None if there is none."""
        text = self._client.hget(keys.TOKENS, digest)
        token = Token(**json.loads(text)) if text else None
        return token if token is not None and hmac.compare_digest(token.digest, digest) else None

    def all(self) -> list[Token]:
        """All tokens, the oldest first."""
        found = (Token(**json.loads(text)) for text in self._client.hvals(keys.TOKENS))
        return sorted(found, key=lambda token: (token.created_at, token.id))

    def drop(self, token_id: str) -> Token | None:
        """Revokes the token of this id; returns it, None if there was none."""
        for token in self.all():
            if token.id == token_id:
                self._client.hdel(keys.TOKENS, token.digest)
                return token
        return None
