"""Webhooks: the consumers that send events to the URLs that the operator names, each URL on its own.

Each URL has a consumer group, so that a receiver that is away holds up no other. An event that is refused (4xx) or that
fails (5xx) again and again becomes a dead letter; a receiver that cannot be reached or wants events later is waited
for, and its events stay in the stream.
"""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn
from urllib.parse import urlsplit

from feedcrawl.domain.addresses import dial_refusal
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.http.hosts_file import host_key, parse_hosts
from feedcrawl.domain.operations.events import Unprocessable
from feedcrawl.domain.operations.webhooks import body_of, headers_of, verdict
from feedcrawl.services.operations.consumer import BatchResult, Consumer, GroupSource, TargetAway

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from feedcrawl.domain.http.url_gate import Gate
    from feedcrawl.store.operations.streams import Events, StoredEvent

AWAY: Final = "webhook_away"
BUSY: Final = "webhook_busy"
SEND_SEC: Final = 15.0
"""The time limit of one request, in seconds, with name resolution and TLS."""
BATCH_SEC: Final = 30.0
"""After this time a batch waits for the next turn, so that the leadership of the consumer is renewed in time."""
MAX_FAILURES: Final = 8
"""Attempts at an event that the receiver answers with 5xx; with the waits of a consumer some five minutes."""
MAX_HEAD_BYTES: Final = 16 << 10


@dataclass(frozen=True, slots=True)
class Guard:
    """Decides which addresses may be dialled, as the crawler's resolver does. `hosts_file` has names that are resolved
    before DNS; `is_own` is True for an address of this machine.

    Unlike a publisher's URL, the operator's may have a name of one label: its addresses are judged all the same.
    """

    gate: Gate
    is_own: Callable[[str], bool]
    hosts_file: Path | None = None

    async def addresses(self, url: str) -> list[str]:
        """The addresses of a URL's host, all of them permitted. Raises InvalidUrl, OSError if there are none."""
        split = urlsplit(self.gate.passed(url))
        host, port = split.hostname or "", split.port or (443 if split.scheme == "https" else 80)
        known = parse_hosts(self.hosts_file.read_text()).get(host_key(host)) if self.hosts_file else None
        found = list(known or ())
        if not found:
            resolved = await asyncio.get_running_loop().getaddrinfo(host, port, type=1)
            found = list(dict.fromkeys(str(place[4][0]) for place in resolved))
        if (refusal := dial_refusal(host, found, self.gate.opened, self.is_own)) is not None:
            raise InvalidUrl("address_refused", refusal)
        return found


class Receiver:
    """One URL as the target of a consumer. `types`: the types of events that are sent, all if empty."""

    def __init__(
        self, url: str, guard: Guard, *, secret: bytes, types: Collection[str] = (), now: Callable[[], datetime]
    ) -> None:
        self._url = url
        self._guard = guard
        self._secret = secret
        self._types = types
        self._now = now
        self._done: dict[str, Unprocessable | None] = {}
        self._failures = 0

    async def deliver(self, events: Sequence[StoredEvent]) -> BatchResult:
        """Send events in order, one request each. Raises TargetAway; the events sent before are not sent again."""
        until = asyncio.get_running_loop().time() + BATCH_SEC
        selected = [each for each in events if not self._types or each.fields.get("type") in self._types]
        for each in selected:
            if each.at not in self._done:
                if asyncio.get_running_loop().time() > until:
                    raise TargetAway(BUSY, f"{self._shown}: slow, {len(self._done)} events sent of {len(selected)}")
                self._done[each.at] = await self._send(each.fields)
        refused = [(each, end) for each in selected if (end := self._done[each.at]) is not None]
        self._done.clear()
        return BatchResult(len(selected) - len(refused), refused)

    async def _send(self, event: Mapping[str, str]) -> Unprocessable | None:
        """None once the receiver has the event, or the reason why it never will. Raises TargetAway."""
        body = body_of(event)
        if isinstance(body, Unprocessable):
            return body
        headers = headers_of(event["id"], body, self._secret, self._now().timestamp())
        try:
            async with asyncio.timeout(SEND_SEC):
                status = await _posted(self._url, await self._guard.addresses(self._url), headers, body)
        except InvalidUrl as error:
            raise TargetAway(error.code, error.detail) from error
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            raise TargetAway(AWAY, f"{self._shown}: {str(error) or type(error).__name__}") from error
        return self._judged(status)

    def _judged(self, status: int) -> Unprocessable | None:
        found = verdict(status)
        if found == "busy":
            self._wait(status)
        if found == "failed" and self._failures + 1 < MAX_FAILURES:
            self._failures += 1
            self._wait(status)
        self._failures = 0
        return None if found == "delivered" else Unprocessable(f"webhook_{found}", f"{self._shown}: HTTP {status}")

    def _wait(self, status: int) -> NoReturn:
        raise TargetAway(BUSY, f"{self._shown}: HTTP {status}")

    @property
    def _shown(self) -> str:
        """The URL without its query, which may have a token."""
        return self._url.partition("?")[0]

    async def close(self) -> None:
        """Nothing: each request has a connection of its own."""


async def _posted(url: str, addresses: Sequence[str], headers: Mapping[str, str], body: bytes) -> int:
    """The status of a POST to the first address that accepts a connection; redirects are not followed."""
    split = urlsplit(url)
    is_tls = split.scheme == "https"
    context, server_name = (ssl.create_default_context(), split.hostname) if is_tls else (None, None)
    port = split.port or (443 if is_tls else 80)
    failure: Exception = OSError("its name has no address")
    for ip in addresses:
        try:
            reader, writer = await asyncio.open_connection(
                ip, port, ssl=context, server_hostname=server_name, limit=MAX_HEAD_BYTES
            )
        except OSError as error:
            failure = error
            continue
        try:
            fields = {"Host": split.netloc.rpartition("@")[2], "Content-Type": "application/json", **headers}
            fields |= {"Content-Length": str(len(body)), "Connection": "close", "User-Agent": "feedcrawl"}
            path = (split.path or "/") + (f"?{split.query}" if split.query else "")
            head = f"POST {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
            writer.write(f"{head}\r\n".encode("ascii") + body)
            await writer.drain()
            words = (await reader.readline()).split(b" ", 2)
            if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
                raise ValueError("the response is no HTTP")
            return int(words[1])
        finally:
            writer.close()
    raise failure


def group_of(url: str) -> str:
    """The consumer group of a URL."""
    return f"webhook:{hashlib.sha256(url.encode()).hexdigest()[:12]}"


def webhook(events: Events, receiver: Receiver, url: str, *, worker: str) -> Consumer:
    """The consumer of a URL in the process that is named `worker`."""
    return Consumer(GroupSource(events, group_of(url), worker=worker), receiver, name="webhook")
