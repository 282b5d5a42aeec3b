"""Connections through proxies: HTTP CONNECT, and SOCKS by the library python-socks (extra `socks`).

A tunnel is requested to an address that our own resolver has judged, so that the proxy cannot resolve the name to
another; only with `proxy_resolves` does the proxy get the name.
"""

from __future__ import annotations

import asyncio
import socket
from base64 import b64encode
from typing import TYPE_CHECKING, Any, Final, NoReturn

from feedcrawl.exceptions import RouteFailed, TunnelFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.domain.sites.outgoing import Proxy

DIAL_SEC: Final = 10.0
"""The longest wait for a connection, in seconds."""
MAX_REPLY_BYTES: Final = 16 << 10

_CONNECT_FAILURES: Final = {502: "unreachable", 503: "unreachable", 504: "connect_timeout"}
_FORBIDDEN: Final = frozenset({403, 405, 501})
"""Replies of a proxy that tunnels to certain ports only, or to none."""
_SOCKS_FAILURES: Final = {
    1: "unreachable",  # RFC 1928, 6: general failure, with which many proxies report any failure of the target
    3: "unreachable",
    4: "unreachable",
    5: "refused",
    6: "connect_timeout",
    91: "unreachable",  # SOCKS 4: rejected or failed
}
"""Replies of a proxy that works and could not reach the target: the failure of the target."""


async def tunnel(proxy: Proxy, targets: Sequence[str], port: int) -> socket.socket:
    """A connection through a proxy to the first of the targets (addresses, or one name) that accepts one.

    Raises RouteFailed if the proxy is at fault, TunnelFailed if the proxy could not reach any target.
    """
    failed = TunnelFailed("unreachable", f"{proxy.name} cannot connect to any of {', '.join(targets)}")
    for target in targets:
        if proxy.scheme == "socks4" and ":" in target:
            continue  # SOCKS 4 has no IPv6
        sock = await connected(proxy)
        try:
            async with asyncio.timeout(DIAL_SEC):
                await (
                    _connect(sock, proxy, target, port) if proxy.scheme == "http" else _socks(sock, proxy, target, port)
                )
        except TimeoutError:
            sock.close()
            failed = TunnelFailed("connect_timeout", f"{proxy.name} did not reach {target} within {DIAL_SEC:g} s")
        except TunnelFailed as error:
            sock.close()
            failed = error
        except OSError as error:
            sock.close()
            raise RouteFailed("proxy_failed", f"{proxy.name} cannot be used: {error}") from None
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise failed


async def connected(proxy: Proxy) -> socket.socket:
    """A connection to a proxy itself; the operator named it, so the guard does not judge it. Raises RouteFailed."""
    loop = asyncio.get_running_loop()
    reason: object = "its name has no address"
    try:
        async with asyncio.timeout(DIAL_SEC):
            for family, kind, protocol, _, place in await loop.getaddrinfo(
                proxy.host, proxy.port, type=socket.SOCK_STREAM
            ):
                sock = socket.socket(family, kind, protocol)
                try:
                    sock.setblocking(False)  # noqa: FBT003 - the socket module's signature
                    await loop.sock_connect(sock, place)
                except OSError as error:
                    sock.close()
                    reason = error
                except BaseException:
                    sock.close()
                    raise
                else:
                    return sock
    except TimeoutError:
        reason = f"no connection within {DIAL_SEC:g} s"
    except OSError as error:
        reason = error
    raise RouteFailed("proxy_failed", f"{proxy.name} cannot be used: {reason}")


def authorization(proxy: Proxy) -> bytes | None:
    """The value of Proxy-Authorization for an HTTP proxy; None without credentials."""
    if not proxy.username and not proxy.password:
        return None
    return b"Basic " + b64encode(f"{proxy.username}:{proxy.password}".encode())


def refuse_credentials(proxy: Proxy) -> NoReturn:
    """Raise RouteFailed for a proxy that answers 407."""
    raise RouteFailed("proxy_failed", f"{proxy.name} refuses the credentials (407)")


async def _connect(sock: socket.socket, proxy: Proxy, host: str, port: int) -> None:
    """Open a tunnel by CONNECT (RFC 9110, 9.3.6).

    The reply is read byte by byte: whatever follows it belongs to the tunnel.
    """
    loop = asyncio.get_running_loop()
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    credentials = authorization(proxy)
    own = b"Proxy-Authorization: %s\r\n" % credentials if credentials else b""
    await loop.sock_sendall(sock, f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n".encode() + own + b"\r\n")
    reply = bytearray()
    while not reply.endswith(b"\r\n\r\n") and len(reply) < MAX_REPLY_BYTES:
        byte = await loop.sock_recv(sock, 1)
        if not byte:
            break
        reply += byte
    words = bytes(reply).split(b"\r\n", 1)[0].split(b" ", 2)
    if not reply.endswith(b"\r\n\r\n") or len(words) < 2 or not words[1].isdigit():
        raise RouteFailed("proxy_failed", f"{proxy.name} sent no HTTP reply to CONNECT: {bytes(reply[:60])!r}")
    status = int(words[1])
    if status == 407:
        refuse_credentials(proxy)
    if not 200 <= status < 300:
        hint = f"; allow CONNECT to port {port} there, or set proxy_resolves" if status in _FORBIDDEN else ""
        _failed(proxy, place, _CONNECT_FAILURES.get(status), f"HTTP {status}{hint}")


async def _socks(sock: socket.socket, proxy: Proxy, host: str, port: int) -> None:
    import python_socks.async_.asyncio  # noqa: PLC0415 - an extra

    kinds = python_socks.ProxyType
    kind = kinds.SOCKS5 if proxy.scheme == "socks5" else kinds.SOCKS4
    credentials = (proxy.username or None, proxy.password or None)
    ours: Any = _Connected(sock)
    client = python_socks.async_.asyncio.Proxy(kind, proxy.host, proxy.port, *credentials, rdns=True, forward=ours)
    try:
        await client.connect(host, port, timeout=2 * DIAL_SEC)  # the caller's limit is shorter
    except python_socks.ProxyError as error:
        if error.error_code is None or error.error_code in (92, 93):  # SOCKS 4: the user is unknown
            raise RouteFailed("proxy_failed", f"{proxy.name} cannot be used: {error}") from None
        _failed(proxy, f"{host}:{port}", _SOCKS_FAILURES.get(error.error_code), str(error))


class _Connected:
    """A connection that is open already, where python-socks would open one."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    async def connect(self, dest_host: str, dest_port: int, timeout: float | None = None) -> socket.socket:  # noqa: ARG002 - python-socks calls it
        return self._sock


def _failed(proxy: Proxy, target: str, failure: str | None, reply: str) -> NoReturn:
    if failure is None:
        raise RouteFailed("proxy_refused", f"{proxy.name} refuses {target}: {reply}")
    raise TunnelFailed(failure, f"{proxy.name} did not reach {target}: {reply}")
