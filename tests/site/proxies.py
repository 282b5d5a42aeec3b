"""Forward proxies on loopback, HTTP and SOCKS at one port, which connect from an address of their own.

with Proxy("127.0.0.21", names=lambda: {"a.test": "127.1.0.1"}, credentials="crawler:secret") as proxy:
    … proxy: http://127.0.0.1:<proxy.port> or socks5://… …
    assert proxy.requests == [("socks5", "127.1.0.1:80")]
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from loops import LoopThread
from tls import relay

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Proxy(LoopThread):
    """Forwards from `address`. `requests` has the protocol (`http`, `connect`, `socks4`, `socks5`) and the target of
    each request as the client wrote it. A `broken` proxy closes each connection; `refusing` is its HTTP status or its
    SOCKS reply to every request.
    """

    def __init__(
        self, address: str, *, names: Callable[[], Mapping[str, str]] = dict, credentials: str = "", port: int = 0
    ) -> None:
        super().__init__(f"proxy {address}")
        self.address = address
        self.names = names
        self.credentials = credentials
        self.wanted_port = port
        self.requests: list[tuple[str, str]] = []
        self.broken = False
        self.refusing: int | None = None

    async def listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._accepted, "127.0.0.1", self.wanted_port)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._current()
        try:
            if not self.broken:
                first = await reader.readexactly(1)
                client = reader, writer
                await {b"\x05": self._socks5, b"\x04": self._socks4}.get(first, self._http)(client, first)
        except (OSError, EOFError):
            pass
        except asyncio.CancelledError:
            pass  # by `_end`
        finally:
            self.tasks.discard(task)
            writer.close()

    async def _dial(self, host: str, port: int) -> Streams:
        host = self.names().get(host, host)
        return await asyncio.open_connection(host, port, local_addr=(self.address, 0))

    async def _http(self, client: Streams, first: bytes) -> None:
        while True:  # a connection of a plain proxy carries many requests
            head = first + await client[0].readuntil(b"\r\n\r\n")
            line, *rest = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
            method, target, _ = line.decode().split(" ")
            headers = {name.lower(): value for name, value in (each.decode().split(": ", 1) for each in rest)}
            self.requests.append(("connect" if method == "CONNECT" else "http", target))
            token = f"Basic {base64.b64encode(self.credentials.encode()).decode()}"
            status = 407 if self.credentials and headers.get("proxy-authorization") != token else self.refusing
            if status:
                client[1].write(b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % status)
                await client[1].drain()
                return
            if method == "CONNECT":
                host, _, port = target.rpartition(":")
                origin = await self._dial(host.strip("[]"), int(port))
                client[1].write(b"HTTP/1.1 200 Connection ")  # the reply comes in pieces
                await client[1].drain()
                client[1].write(b"established\r\nVia: test\r\n\r\n")
                await _tunnel(client, origin)
                return
            await self._forward(client, line.decode(), rest)
            first = b""

    async def _forward(self, client: Streams, line: str, headers: list[bytes]) -> None:
        method, target, version = line.split(" ")
        parts = urlsplit(target)
        origin = await self._dial(parts.hostname or "", parts.port or 80)
        path = target.removeprefix(f"http://{parts.netloc}") or "/"
        forwarded = [each for each in headers if not each.lower().startswith((b"proxy-", b"connection:"))]
        head = [f"{method} {path} {version}".encode(), *forwarded, b"Connection: close", b"", b""]
        origin[1].write(b"\r\n".join(head))
        client[1].write(await origin[0].read())
        await client[1].drain()
        origin[1].close()
        client[1].close()  # the end of the body may be the end of the connection

    async def _socks5(self, client: Streams, _: bytes) -> None:
        reader, writer = client
        methods = await reader.readexactly((await reader.readexactly(1))[0])
        wanted = 2 if self.credentials else 0
        writer.write(bytes([5, wanted if wanted in methods else 255]))
        if wanted not in methods:
            return
        if wanted:
            await reader.readexactly(1)
            name = await reader.readexactly((await reader.readexactly(1))[0])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            is_right = name + b":" + password == self.credentials.encode()
            writer.write(bytes([1, not is_right]))
            if not is_right:
                return
        kind = (await reader.readexactly(4))[3]
        if kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = str(ipaddress.ip_address(await reader.readexactly(4 if kind == 1 else 16)))
        port = int.from_bytes(await reader.readexactly(2), "big")
        await self._serve_socks("socks5", client, host, port)

    async def _socks4(self, client: Streams, _: bytes) -> None:
        command = await client[0].readexactly(7)
        await client[0].readuntil(b"\0")
        host, port = str(ipaddress.ip_address(command[3:7])), int.from_bytes(command[1:3], "big")
        await self._serve_socks("socks4", client, host, port)

    async def _serve_socks(self, kind: str, client: Streams, host: str, port: int) -> None:
        self.requests.append((kind, f"{host}:{port}"))
        reply = self.refusing
        origin: Streams | None = None
        if reply is None:
            reply = 90 if kind == "socks4" else 0
            try:
                origin = await self._dial(host, port)
            except ConnectionRefusedError:
                reply = 91 if kind == "socks4" else 5
        body = b"\0\0\0\0\0\0"
        client[1].write(bytes([0, reply]) + body if kind == "socks4" else bytes([5, reply, 0, 1]) + body)
        if origin is not None:
            await _tunnel(client, origin)


async def _tunnel(client: Streams, origin: Streams) -> None:
    await asyncio.gather(relay(client[0], origin[1]), relay(origin[0], client[1]))
