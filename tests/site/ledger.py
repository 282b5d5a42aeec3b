"""The requests that an origin received, and measures of their politeness."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from urllib.parse import urlsplit


@dataclass(slots=True)
class Request:
    """One request as it was received. Times in seconds of `time.monotonic()`, which processes of a machine share.

    `host` is the site's name, `headers` keep the case and the order of the wire, `open_on_host` counts the requests
    that the site was busy with at that moment and whose clients had not closed the connection (after a timeout or a
    kill), this one included. `answered` stays None while the answer is under way.
    """

    host: str
    address: str
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    client_port: int
    client_address: str
    received: float
    open_on_host: int
    answered: float | None = None
    status: int | None = None

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @property
    def conditional(self) -> bool:
        return self.header("If-None-Match") is not None or self.header("If-Modified-Since") is not None


@dataclass(slots=True)
class Ledger:
    """All requests in the order of their arrival."""

    requests: list[Request] = field(default_factory=list)

    def of(self, host: str | None = None, path: str | None = None, *, robots: bool = False) -> list[Request]:
        """The requests for a host or a path or both; those for robots.txt only on request."""
        return [
            request
            for request in list(self.requests)
            if (host is None or request.host == host)
            and (path is None or request.path == path)
            and (robots or request.path != "/robots.txt" or path == "/robots.txt")
        ]

    def hosts(self) -> set[str]:
        return {request.host for request in list(self.requests)}

    def gaps(self, host: str, *, robots: bool = False) -> list[float]:
        """Seconds from the arrival of each request of a host to that of the next."""
        return [later.received - earlier.received for earlier, later in pairwise(self.of(host, robots=robots))]

    def max_open(self, host: str) -> int:
        """The most requests that a host was busy with at once."""
        return max((request.open_on_host for request in self.of(host, robots=True)), default=0)

    def conditional_share(self, host: str | None = None, path: str | None = None) -> float:
        """The share of requests that carried a validator; 0.0 where there were none."""
        requests = self.of(host, path)
        return sum(request.conditional for request in requests) / len(requests) if requests else 0.0
