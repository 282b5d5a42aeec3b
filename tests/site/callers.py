"""An API on stores of a test's own, and callers of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from api import free_port, serving
from scrapy.settings import Settings

from feedcrawl.services.operations import tokens
from feedcrawl.settings import from_environment
from feedcrawl.wiring import Wiring


class Callers:
    """The stores, and clients with a token of a scope or none."""

    def __init__(self, wired: Wiring, url: str) -> None:
        self.wired, self.url = wired, url
        self._open = contextlib.ExitStack()

    def client(self, **headers: str) -> httpx.Client:
        """Whoever is on this machine, with these headers (`_` for `-`)."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._open.enter_context(httpx.Client(base_url=self.url, timeout=60, headers=named))

    def token(self, scope: str, actor: str = "ada") -> str:
        return tokens.create(self.wired.tokens, actor, scope, self.wired.now())[0]

    def having(self, scope: str, actor: str = "ada") -> httpx.Client:
        return self.client(Authorization=f"Bearer {self.token(scope, actor)}")

    def close(self) -> None:
        self._open.close()


@contextlib.contextmanager
def callers(redis_url: str, data_dir: Path, **own: Any) -> Iterator[Callers]:
    """An API with these settings (without `FEEDCRAWL_`), on an empty server."""
    given = {"REDIS_URL": redis_url, "FEEDCRAWL_DATA_DIR": str(data_dir)}
    given |= {f"FEEDCRAWL_{name}": str(value) for name, value in own.items()}
    wired = Wiring(Settings(from_environment({}) | given))
    with contextlib.closing(wired), serving(wired, free_port()) as url, contextlib.closing(Callers(wired, url)) as made:
        yield made
