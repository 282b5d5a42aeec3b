"""robots.txt of each origin as fetched: body, status, time, and since when it has been failing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

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

    def save_robots(self, origin: str, record: RobotsRecord) -> None:
        """Stores a response for the configured time to live."""
        key = _key(origin)
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


def _key(origin: str) -> str:
    """The key `robots:<host>` for https at port 443, else with the port, so that http (`:80`) has its own key."""
    parts = urlsplit(origin)
    default = {"https": None, "http": 80}.get(parts.scheme)
    port = parts.port or default
    return keys.robots(
        f"{parts.hostname}:{port}" if port and (parts.scheme, port) != ("https", 443) else str(parts.hostname)
    )
