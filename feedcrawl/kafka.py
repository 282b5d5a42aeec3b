"""Kafka by aiokafka: an idempotent producer, so that what it repeats by itself is there once and in order."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordListTooLargeError, RecordTooLargeError

from feedcrawl.domain.messages import Message, Unfit
from feedcrawl.services.relay import SEND_SEC, BrokersAway

if TYPE_CHECKING:
    from collections.abc import Sequence

REQUEST_MS: Final = 20_000
"""Within `SEND_SEC`: what is not confirmed by then is not sent any more."""
END_SEC: Final = 10.0
_TOO_LARGE: Final = (MessageSizeTooLargeError, RecordListTooLargeError, RecordTooLargeError)


class Brokers:
    """A producer that is started when it is first needed, and anew after each failure."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._producer: Any = None

    async def send(self, messages: Sequence[Message]) -> list[Unfit | None]:
        """Sends in order, and answers for each message None, or why it can never be sent.

        Raises BrokersAway; a part may then have been sent, and nothing of the rest will be.
        """
        try:
            async with asyncio.timeout(SEND_SEC):
                return await send_all(await self._started(), messages)
        except (KafkaError, OSError) as error:  # TimeoutError is one of the latter
            await self.close()
            raise BrokersAway(f"{self._bootstrap}: {str(error) or type(error).__name__}") from error

    async def close(self) -> None:
        """Ends the producer, whatever state it is in."""
        if self._producer is None:
            return
        producer, self._producer = self._producer, None
        with contextlib.suppress(KafkaError, OSError):
            try:
                async with asyncio.timeout(END_SEC):
                    await producer.stop()
            finally:
                await producer.client.close()

    async def _started(self) -> Any:
        if self._producer is None:
            self._producer = AIOKafkaProducer(
                bootstrap_servers=self._bootstrap,
                client_id="feedcrawl",
                enable_idempotence=True,
                request_timeout_ms=REQUEST_MS,
                compression_type="gzip",
                linger_ms=0,
            )
            await self._producer.start()
        return self._producer


async def send_all(producer: Any, messages: Sequence[Message]) -> list[Unfit | None]:
    """One batch through aiokafka's producer. Where the brokers refuse it as too large, once more, one at a time."""
    sent = [await _queue(producer, message) for message in messages]
    came = await asyncio.gather(*sent, return_exceptions=True)
    if any(isinstance(each, _TOO_LARGE) for each in came) and len(messages) > 1:
        return [end for message in messages for end in await send_all(producer, [message])]
    return [_end(each) for each in came]


async def _queue(producer: Any, message: Message) -> asyncio.Future[Any]:
    headers = [("id", message.id.encode("utf-8", "surrogateescape"))]
    queued: asyncio.Future[Any]
    try:
        queued = await producer.send(message.topic, value=message.value, key=message.key, headers=headers)
    except _TOO_LARGE as error:
        queued = asyncio.get_running_loop().create_future()
        queued.set_exception(error)
    return queued


def _end(came: object) -> Unfit | None:
    if isinstance(came, _TOO_LARGE):
        return Unfit("too_large", str(came)[:200])
    if isinstance(came, BaseException):
        raise came
    return None
