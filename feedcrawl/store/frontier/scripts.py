"""Assembles the frontier's scripts, and the numbers of their policy.

A script is `policy`, the letters of `packed.codes` if it reads records, `common.lua`, the parts that it needs, its own
`main`, and `run.lua`, in this order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl.store.frontier.packed import codes
from feedcrawl.store.redis.scripts import lua_text

if TYPE_CHECKING:
    from feedcrawl.store.redis.client import Client, Script

SCRIPTS = {
    "enqueue": "records hosts queues",
    "take": "records hosts queues slots ends",
    "done": "records hosts queues slots signals ends",
    "give_back": "records hosts queues slots ends",
    "strays": "records hosts queues slots ends",
    "release": "hosts queues slots signals",
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
DOMAIN_FAILURES = 3
"""Number of hosts that must fail together until their registered domain counts as failing."""
TOGETHER_MS = 600_000
"""Longest time between the first failures of two hosts of a domain that count as failing together."""
HOSTS_A_DOMAIN = 4
"""Number of hosts of a registered domain that may be requested at the same time, if the domain has no setting."""


@dataclass(frozen=True, slots=True)
class FrontierPolicy:
    """The numbers by which the frontier decides; times in seconds.

    A registered domain without a setting may be requested as often as `HOSTS_A_DOMAIN` of its hosts together, and never
    less often than the host whose turn it is.
    """

    lease_sec: float = 60.0
    max_attempts: int = 4
    host_delay_sec: float = 1.0
    host_concurrency: int = 1
    domain_delay_sec: float | None = None
    domain_concurrency: int | None = None
    remember_sec: float = 30 * 86400.0
    circuit_failures: int = 5
    circuit_waits_sec: tuple[float, ...] = (30.0, 60.0, 120.0, 240.0, 300.0)

    @property
    def domain_pace(self) -> tuple[float, int]:
        """Delay and concurrency that the hosts of a registered domain share."""
        delay, concurrency = self.domain_delay_sec, self.domain_concurrency
        return (
            self.host_delay_sec / HOSTS_A_DOMAIN if delay is None else delay,
            self.host_concurrency * HOSTS_A_DOMAIN if concurrency is None else concurrency,
        )

    def lua(self) -> str:
        """The policy as the first line of every script: the server parses it once, not at each call."""
        waits = ", ".join(str(_ms(wait)) for wait in self.circuit_waits_sec)
        domain_delay, domain_concurrency = self.domain_pace
        figures = {
            "lease": _ms(self.lease_sec),
            "max_attempts": self.max_attempts,
            "delay": _ms(self.host_delay_sec),
            "concurrency": self.host_concurrency,
            "domain_delay": _ms(domain_delay),
            "domain_delay_stands": str(self.domain_delay_sec is not None).lower(),
            "domain_concurrency": domain_concurrency,
            "domain_failures": DOMAIN_FAILURES,
            "together": TOGETHER_MS,
            "remember": _ms(self.remember_sec),
            "host_ttl": 2 * 86_400_000,
            "circuit_failures": self.circuit_failures,
        }
        fields = ", ".join(f"{name} = {figure}" for name, figure in figures.items())
        return f"local POLICY = {{{fields}, circuit_waits = {{{waits}}}}}\n"


def register(client: Client, policy: FrontierPolicy) -> dict[str, Script]:
    """The scripts by name."""

    def text(name: str, needed: str) -> str:
        parts = ("common", *needed.split(), name, "run")
        letters = codes() if "records" in parts else ""
        return policy.lua() + letters + "".join(lua_text(__package__, part) for part in parts)

    return {name: client.register_script(text(name, needed)) for name, needed in SCRIPTS.items()}


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
