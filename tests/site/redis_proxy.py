"""A proxy on loopback between a crawl and its Redis, which injects faults: delay, slices, cuts, silence.

with running_redis() as server, RedisProxy(server) as proxy:
    … REDIS_URL=proxy.url …
    proxy.faults = Faults(delay_sec=0.5)
    proxy.reset()
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
from dataclasses import dataclass

from loops import LoopThread

READ_BYTES = 65_536
LINGER = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """What happens to replies from now on, on all connections.

    Each piece comes `delay_sec` and up to `jitter_sec` later, in slices of `slice_bytes`. A share of them, `cut`, ends
    in its middle, and the connection with it; so does what comes after `limit_bytes` of a connection. A `silent` proxy
    accepts and holds back all commands, which the server gets when it speaks again; a `refusing` one resets whoever
    comes.
    """

    delay_sec: float = 0.0
    jitter_sec: float = 0.0
    slice_bytes: int = READ_BYTES
    cut: float = 0.0
    limit_bytes: int | None = None
    silent: bool = False
    refusing: bool = False


class RedisProxy(LoopThread):
    """Listens on a port of 127.0.0.1 and hands on to the server's unix socket. `faults` may change at any time."""

    def __init__(self, server: str, seed: int = 4) -> None:
        super().__init__("redis-proxy")
        self.server = server.removeprefix("unix://")
        self.faults = Faults()
        self.connected = 0
        self.chance = random.Random(seed)
        self.writers: set[asyncio.StreamWriter] = set()

    async def listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._connected, "127.0.0.1", 0)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def reset(self) -> None:
        """Resets all connections, whatever is under way on them."""
        self.loop.call_soon_threadsafe(self._reset)

    def _reset(self) -> None:
        for writer in list(self.writers):
            _abort(writer)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connected += 1
        task = self._current()
        self.writers.add(writer)
        try:
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await self._serve(reader, writer)
        finally:
            self.tasks.discard(task)
            self.writers.discard(writer)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.faults.refusing:
            _abort(writer)
            return
        answers, commands = await asyncio.open_unix_connection(self.server)
        ways = [
            asyncio.ensure_future(way)
            for way in (self._pass_commands(reader, commands), self._answered(answers, writer))
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            commands.close()

    async def _pass_commands(self, reader: asyncio.StreamReader, commands: asyncio.StreamWriter) -> None:
        while data := await reader.read(READ_BYTES):
            while self.faults.silent:
                await asyncio.sleep(0.02)
            commands.write(data)
            await commands.drain()

    async def _answered(self, answers: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent = 0
        while data := await answers.read(READ_BYTES):
            faults = self.faults
            while data:
                piece, data = data[: faults.slice_bytes], data[faults.slice_bytes :]
                wait = faults.delay_sec + self.chance.uniform(0, faults.jitter_sec)
                if wait:
                    await asyncio.sleep(wait)
                over = faults.limit_bytes is not None and sent + len(piece) > faults.limit_bytes
                if over or self.chance.random() < faults.cut:
                    writer.write(piece[: len(piece) // 2])
                    await writer.drain()
                    return
                sent += len(piece)
                writer.write(piece)
                await writer.drain()


def _abort(writer: asyncio.StreamWriter) -> None:
    """A reset, not an end: what was sent and not read is lost."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)
    writer.transport.abort()
