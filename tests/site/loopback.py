"""The rule that tests talk to this machine alone, enforced: anything else raises before a packet leaves."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from typing import Any

import pytest

# Names that every machine resolves without asking anyone.
LOCAL_NAMES = {None, "", "localhost", b"localhost"}


class NotLoopback(RuntimeError):
    """Not an OSError, so that code which expects networks to fail does not swallow it."""


def is_loopback(host: str | bytes | None) -> bool:
    if host in LOCAL_NAMES:
        return True
    text = host.decode("latin-1") if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        return False


class Guard:
    """What was tried in vain since the list was last cleared."""

    def __init__(self) -> None:
        self.refused: list[str] = []

    def check(self, call: str, host: str | bytes | None) -> None:
        if not is_loopback(host):
            self.refused.append(f"{call}({host!r})")
            message = f"{call}({host!r}): tests reach loopback only; use a site of the `origin` fixture or a value"
            raise NotLoopback(message)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, self._of_socket(name))
        for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr"):
            patch.setattr(socket, name, self._of_module(name))

    def _of_socket(self, name: str) -> Callable[..., Any]:
        original = getattr(socket.socket, name)

        def guarded(sock: socket.socket, *arguments: Any) -> Any:
            if sock.family in {socket.AF_INET, socket.AF_INET6}:
                self.check(f"socket.{name}", arguments[-1][0])
            return original(sock, *arguments)

        return guarded

    def _of_module(self, name: str) -> Callable[..., Any]:
        original = getattr(socket, name)

        def guarded(host: str | bytes | None, *arguments: Any, **named: Any) -> Any:
            self.check(f"socket.{name}", host)
            return original(host, *arguments, **named)

        return guarded
