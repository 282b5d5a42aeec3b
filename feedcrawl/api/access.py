"""Who calls, and what he may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Scope = Literal["read", "write", "admin"]
SCOPES: Final[frozenset[Scope]] = frozenset({"read", "write", "admin"})
LOCAL: Final = "local"
"""The actor that whoever is on this machine is, where the API listens on loopback alone."""


@dataclass(frozen=True, slots=True)
class Caller:
    """An actor's name, and the scopes that he has."""

    actor: str
    scopes: frozenset[Scope]


def needs(scope: Scope) -> Callable[[], Caller]:
    """The dependency of a route that asks for a scope."""

    def caller() -> Caller:
        assert scope in SCOPES
        return Caller(LOCAL, SCOPES)

    return caller
