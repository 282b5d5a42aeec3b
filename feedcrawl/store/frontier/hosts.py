"""robots.txt of each origin as fetched: body, status, time, and since when it has been failing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from feedcrawl.domain.urls import hostname
from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from feedcrawl.store.redis.client import Client


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """The last response for a robots.txt. `status` 0 means no response; times are Unix seconds.

    `failing_since` is the time of the first 5xx or missing response in a row; 0 if the last one was no failure.
    """

    body: str
    status: int
    fetched_at: float
    failing_since: float = 0.0


@dataclass(frozen=True, slots=True)
class RobotsFailure:
    """A robots.txt that fails: its origin, the reason code of the last failure, the time of the first in a row (Unix
    seconds).
    """

    origin: str
    reason: str
    since: float


class Hosts:
    """The robots.txt records that all workers share. Methods may raise StoreUnavailable."""

    def __init__(self, client: Client, *, robots_ttl_sec: float) -> None:
        self._client = client
        self._ttl_sec = round(robots_ttl_sec)

    def robots(self, origin: str) -> RobotsRecord | None:
        """The stored robots.txt of an origin (scheme, host and port); None if none is stored."""
        found = self._client.hgetall(_key(origin))
        if not found:
            return None
        return RobotsRecord(
            found.get("body", ""),
            int(found.get("status", 0)),
            float(found.get("fetched_at", 0)),
            float(found.get("failing_since", 0)),
        )

    def failing(self, host: str) -> list[RobotsFailure]:
        """The robots.txt of a host that fail, one for each origin."""
        found = self._client.hgetall(keys.robots_failing(host))
        return [RobotsFailure(origin, *_failure(text)) for origin, text in sorted(found.items())]

    def save_robots(self, origin: str, record: RobotsRecord, reason: str = "") -> None:
        """Stores a response for the configured time to live; `reason` is the code of a failure."""
        key, failing = _key(origin), keys.robots_failing(hostname(origin))
        fields = {
            "body": record.body,
            "status": record.status,
            "fetched_at": record.fetched_at,
            "failing_since": record.failing_since,
        }
        with self._client.pipeline(transaction=True) as pipe:
            pipe.hset(key, mapping=fields)
            pipe.expire(key, self._ttl_sec)
            pipe.execute()
        if record.failing_since:
            self._client.hset(failing, origin, f"{record.failing_since} {reason}")
            self._client.expire(failing, self._ttl_sec)
        else:
            self._client.hdel(failing, origin)


def _failure(text: str) -> tuple[str, float]:
    since, _, reason = text.partition(" ")
    return reason, float(since)


def _key(origin: str) -> str:
    """The key `robots:<host>` for https at port 443, else with the port, so that http (`:80`) has its own key."""
    parts = urlsplit(origin)
    default = {"https": None, "http": 80}.get(parts.scheme)
    port = parts.port or default
    return keys.robots(
        f"{parts.hostname}:{port}" if port and (parts.scheme, port) != ("https", 443) else str(parts.hostname)
    )
