"""Whoever opens connections and says little keeps nobody out."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import redis
from callers import Callers, callers

from feedcrawl.api.limits import connections
from feedcrawl.store.redis.keys import EVENTS

HEAD = b"GET /healthz HTTP/1.1\r\nHost: a\r\n"


@pytest.fixture
def local(
    redis_server: str, redis_client: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callers]:
    monkeypatch.setattr(connections, "HEAD_SEC", 0.4)
    with callers(redis_server, tmp_path) as made:
        yield made


def opened(local: Callers, address: str = "127.0.0.1") -> socket.socket:
    to = urlsplit(local.url)
    return socket.create_connection((to.hostname, to.port), timeout=60, source_address=(address, 0))


def is_over(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("sent_bytes", [b"", b"G", HEAD])
def test_a_connection_without_a_head_is_closed(local: Callers, sent_bytes: bytes) -> None:
    with opened(local) as connection:
        connection.sendall(sent_bytes)
        began = time.monotonic()
        assert is_over(connection)
        assert time.monotonic() - began < 5


def test_a_head_that_drips_is_closed(local: Callers) -> None:
    with opened(local) as connection:
        with contextlib.suppress(ConnectionError):
            for taken in range(100):
                connection.sendall(b"X" if taken else b"G")
                time.sleep(0.05)
        assert taken < 90


def test_a_connection_without_the_head_of_a_later_request_is_closed(local: Callers) -> None:
    with opened(local) as connection:
        connection.sendall(HEAD + b"\r\n")
        answer = b""
        while not answer.endswith(b"}"):
            answer += connection.recv(65_536)
        connection.sendall(b"GET /h")
        began = time.monotonic()
        assert is_over(connection)
        assert time.monotonic() - began < 5


def test_a_response_may_take_longer_than_a_head(local: Callers) -> None:
    with local.client().stream("GET", "/events", headers={"Accept": "text/event-stream"}) as answer:
        lines = answer.iter_lines()
        assert next(lines) == ": alive"
        time.sleep(0.6)
        local.wired.client.xadd(EVENTS, {"type": "x", "data": "{}"})
        assert next(line for line in lines if line.startswith("id: "))


def test_half_sent_requests_take_no_place(
    redis_server: str, redis_client: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS", 12)
    with callers(redis_server, tmp_path) as local, contextlib.ExitStack() as open_ones:
        other = open_ones.enter_context(opened(local, "127.0.0.2"))
        other.sendall(HEAD)
        half_sent = [open_ones.enter_context(opened(local)) for _ in range(30)]
        for connection in half_sent:
            with contextlib.suppress(ConnectionError):
                connection.sendall(HEAD)
        for _ in range(5):
            assert httpx.get(f"{local.url}/healthz", timeout=60).status_code == 200
        assert is_over(half_sent[0])
        other.sendall(b"\r\n")  # of another address, which has one only
        assert other.recv(65_536).startswith(b"HTTP/1.1 200")


def test_a_response_that_no_client_reads_is_closed(local: Callers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "UNREAD_SEC", 0.3)
    lost, end = threading.Event(), connections.Connection.connection_lost

    def seen(connection: connections.Connection, error: Exception | None) -> None:
        end(connection, error)
        lost.set()

    monkeypatch.setattr(connections.Connection, "connection_lost", seen)
    for number in range(300):
        local.wired.client.xadd(EVENTS, {"type": "x", "data": '"' + str(number) * 20_000 + '"'})
    with opened(local) as connection:
        connection.sendall(b"GET /events?limit=300 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert lost.wait(60)
        length = 0
        with contextlib.suppress(ConnectionError):
            while piece := connection.recv(1 << 20):
                length += len(piece)
        assert length < 10_000_000
