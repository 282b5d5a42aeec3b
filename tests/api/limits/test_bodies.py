"""Bodies on their way have a limit of bytes and of places, and give back what they took; without a server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from starlette.requests import Request

from feedcrawl.api.limits import bodies
from feedcrawl.api.limits.bodies import Bodies
from feedcrawl.domain.errors import Refusal

LARGEST = 1000


class Sender:
    """A request whose body comes in pieces, when the test says so."""

    def __init__(self, address: str = "192.0.2.1", **headers: str) -> None:
        named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": "POST", "path": "/", "headers": named, "client": (address, 1)}
        self._pieces = asyncio.Queue[dict[str, Any]]()
        self.request = Request(scope, self._pieces.get)

    def sends(self, piece: bytes, *, more: bool = True) -> "Sender":
        self._pieces.put_nowait({"type": "http.request", "body": piece, "more_body": more})
        return self

    def leaves(self) -> "Sender":
        self._pieces.put_nowait({"type": "http.disconnect"})
        return self


@asynccontextmanager
async def waiting(limiter: Bodies, *senders: Sender) -> AsyncIterator[None]:
    """While the block runs these bodies are on their way: what they have sent is read."""

    async def read(sender: Sender) -> None:
        async with limiter.read(sender.request, LARGEST):
            pass

    tasks = [asyncio.create_task(read(sender)) for sender in senders]
    await asyncio.sleep(0)
    while any(sender._pieces.qsize() for sender in senders):
        await asyncio.sleep(0)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def refusal(limiter: Bodies, sender: Sender, limit: int = LARGEST) -> str | None:
    try:
        async with limiter.read(sender.request, limit):
            return None
    except Refusal as error:
        return error.code


def test_all_bodies_together_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "HELD_BYTES", 5000)

    async def scenario() -> None:
        limiter = Bodies(LARGEST)
        async with waiting(limiter, *(Sender().sends(b"x" * 900) for _ in range(5))):
            assert await refusal(limiter, Sender().sends(b"x" * 501, more=False)) == "too_many_bodies"
            assert await refusal(limiter, Sender().sends(b"x" * 500, more=False)) is None
        async with AsyncExitStack() as worked_on:  # a body that has come is held until its request is over
            for _ in range(5):
                body = Sender().sends(b"x" * 1000, more=False)
                assert await worked_on.enter_async_context(limiter.read(body.request, LARGEST)) == b"x" * 1000
            assert await refusal(limiter, Sender().sends(b"x", more=False)) == "too_many_bodies"
        assert limiter._bytes == 0

    asyncio.run(scenario())


def test_bodies_that_arrive_from_an_address_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "ARRIVING_OF_ONE", 3)

    async def scenario() -> None:
        limiter = Bodies(LARGEST)
        async with waiting(limiter, *(Sender().sends(b"x") for _ in range(3))):
            assert await refusal(limiter, Sender().sends(b"x", more=False)) == "too_many_bodies"
            assert await refusal(limiter, Sender("192.0.2.2").sends(b"x", more=False)) is None
        assert await refusal(limiter, Sender().sends(b"x", more=False)) is None
        assert limiter._bytes == 0

    asyncio.run(scenario())


def test_the_largest_bodies_fit_whatever_the_limit_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "HELD_BYTES", 10)

    async def scenario() -> None:
        assert await refusal(Bodies(LARGEST), Sender().sends(b"x" * LARGEST, more=False)) is None

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("sender", "code"),
    [
        (lambda: Sender(content_length="1001"), "too_large"),
        (lambda: Sender(content_length="-1"), "too_large"),
        (lambda: Sender().sends(b"x" * 600).sends(b"x" * 600), "too_large"),
        (lambda: Sender(content_encoding="gzip").sends(b"x"), "bad_encoding"),
        (lambda: Sender().sends(b"x").leaves(), "body_incomplete"),
        (lambda: Sender().sends(b"x"), "too_slow"),
    ],
)
def test_a_refused_body_leaves_no_bytes_counted(
    sender: Callable[[], Sender], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "BODY_SEC", 0.05)

    async def scenario() -> None:
        limiter = Bodies(LARGEST)
        assert await refusal(limiter, sender()) == code
        assert limiter._bytes == 0

    asyncio.run(scenario())
