"""Assembles the frontier's scripts, and the numbers of their policy.

A script is `policy`, the letters of `packed.codes` if it reads records, `common.lua`, the parts that it needs, its own
`main`, and `run.lua`, in this order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from feedcrawl.domain.frontier.scopes import SCOPES
from feedcrawl.store.frontier.interface import ms
from feedcrawl.store.frontier.packed import codes
from feedcrawl.store.redis.scripts import lua_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from feedcrawl.domain.frontier.scopes import Scope
    from feedcrawl.store.redis.client import Client, Script

SCRIPTS = {
    "enqueue": "records hosts queues",
    "take": "records hosts queues slots ends",
    "done": "records hosts queues slots signals ends",
    "give_back": "records hosts queues slots ends",
    "strays": "records hosts queues slots ends",
    "first_end": "hosts",
    "release": "hosts slots signals",
    "turn": "hosts slots",
    "visit": "hosts queues slots",
    "heartbeat": "hosts",
    "pace": "hosts",
    "forgive": "hosts slots",
    "remove": "records hosts queues slots",
    "adopt": "records hosts queues",
    "sweep": "records hosts queues",
    "audit": "hosts",
    "now": "hosts",
}
"""Each script with the parts that it needs besides `common`: an unneeded part would be set up at each call."""
SCOPE_FAILURES = 3
"""Number of hosts that must fail together until a scope that they share counts as failing."""
TOGETHER_MS = 600_000
"""Longest time between the first failures of two hosts of a scope that count as failing together."""
HOSTS_A_SCOPE = 4
"""Number of hosts of a scope that may be requested at the same time, if the scope has no setting."""


class ScopePace(NamedTuple):
    """Settings for all scopes of a kind: the delay and number of open requests that their hosts share; None: unset."""

    delay_sec: float | None = None
    concurrency: int | None = None


@dataclass(frozen=True, slots=True)
class FrontierPolicy:
    """The numbers by which the frontier decides; times in seconds. `scopes` has settings by the name of the kind.

    A scope without a setting may be requested as often as `HOSTS_A_SCOPE` of its hosts together, and never less often
    than the host whose turn it is.
    """

    lease_sec: float = 60.0
    max_attempts: int = 4
    host_delay_sec: float = 1.0
    host_concurrency: int = 1
    scopes: Mapping[str, ScopePace] = field(default_factory=dict)
    remember_sec: float = 30 * 86400.0
    circuit_failures: int = 5
    circuit_waits_sec: tuple[float, ...] = (30.0, 60.0, 120.0, 240.0, 300.0)

    def scope_pace(self, name: str) -> tuple[float, int]:
        """Delay and concurrency that the hosts of a scope of this kind share."""
        delay, concurrency = self.scopes.get(name, ScopePace())
        return (
            self.host_delay_sec / HOSTS_A_SCOPE if delay is None else delay,
            self.host_concurrency * HOSTS_A_SCOPE if concurrency is None else concurrency,
        )

    def lua(self) -> str:
        """The policy as the first line of every script: the server parses it once, not at each call."""
        waits = ", ".join(str(ms(wait)) for wait in self.circuit_waits_sec)
        figures = {
            "lease": ms(self.lease_sec),
            "max_attempts": self.max_attempts,
            "delay": ms(self.host_delay_sec),
            "concurrency": self.host_concurrency,
            "remember": ms(self.remember_sec),
            "host_ttl": 2 * 86_400_000,
            "circuit_failures": self.circuit_failures,
        }
        scopes = ", ".join(_table(self._scope(scope)) for scope in SCOPES)
        return f"local POLICY = {_table({**figures, 'circuit_waits': f'{{{waits}}}'})}\nlocal SCOPES = {{{scopes}}}\n"

    def _scope(self, scope: Scope) -> dict[str, str | int]:
        delay, concurrency = self.scope_pace(scope.name)
        is_set = self.scopes.get(scope.name, ScopePace()).delay_sec is not None
        stored = {name: repr(getattr(scope, name)) for name in ("mark", "record", "parked", "field")}
        return {
            **stored,
            "delay": ms(delay),
            "delay_stands": str(is_set).lower(),
            "concurrency": concurrency,
            "threshold": SCOPE_FAILURES,
            "together": TOGETHER_MS,
            "state": repr("closed"),
            **dict.fromkeys(("next_at", "busy", "failures", "opened", "failed_at"), 0),
        }


def register(client: Client, policy: FrontierPolicy) -> dict[str, Script]:
    """The scripts by name."""

    def text(name: str, needed: str) -> str:
        parts = ("common", *needed.split(), name, "run")
        letters = codes() if "records" in parts else ""
        return policy.lua() + letters + "".join(lua_text(__package__, part) for part in parts)

    return {name: client.register_script(text(name, needed)) for name, needed in SCRIPTS.items()}


def _table(fields: Mapping[str, str | int]) -> str:
    return f"{{{', '.join(f'{name} = {value}' for name, value in fields.items())}}}"
