"""The ways out of this machine: local addresses and proxies, for the crawler's requests and the browser's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.public_names import imported_later

if TYPE_CHECKING:
    from feedcrawl.outgoing.routes import Routes, of

__all__ = [
    "Routes",
    "of",
]

if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
    __getattr__ = imported_later(__name__)
