"""Scopes wider than a host: hosts that share a pace and a circuit (docs/decisions/0010-registered-domains.md).

The scripts of the frontier loop over `SCOPES`, so that another kind of scope is another row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from feedcrawl.domain.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Callable

WHY: Final = {
    "pace": "the delay that all hosts of the {words} share",
    "answer_awaited": "the {words} has as many open responses as allowed",
    "circuit_open": "hosts of the {words} failed together: one is tried when the wait is over",
}
"""Reasons for which a scope lets its hosts wait, in words."""


class Scope(NamedTuple):
    """A kind of scope.

    `name` is used in settings, events and reason codes; `words` is the same in words. `key` returns the key of a host's
    scope, None if the host has none of this kind.

    The other fields are parts of the stored form and never change. `mark` precedes a scope's key in the sets of places,
    and occurs in no host. `record` begins the keys of the scopes' records. `parked` names the sets of hosts that wait
    for a scope. `field` is the field of a host's record that has the key, or the key's length if the host ends with it.
    """

    name: str
    words: str
    key: Callable[[str], str | None]
    mark: str
    record: str
    parked: str
    field: str

    def named(self, key: str) -> str:
        """The name of a scope in the scripts and in the sets of places."""
        return self.mark + key

    def stored(self, host: str) -> int | str:
        """The value of `field` for a host; empty if the host has no scope of this kind."""
        key = self.key(host)
        if key is None:
            return ""
        return len(key) if host.endswith(key) else key


SCOPES: Final = (Scope("domain", "registered domain", site_of, "@", "d:", "parked", "site"),)
"""All kinds, the narrowest first."""
OF_NAME: Final = {scope.name: scope for scope in SCOPES}
OF_MARK: Final = {scope.mark: scope for scope in SCOPES}


def stored_scopes(host: str) -> list[int | str]:
    """The values of the fields of all kinds for a host, as the scripts read them."""
    return [scope.stored(host) for scope in SCOPES]
