"""The relay: sends the events of the stream to Kafka, at least once and in order.

The stream is the outbox. A consumer group remembers which events were sent: an event is acknowledged after the brokers
have confirmed it, so that after a kill in between it is sent again with the same id. The stream is never trimmed beyond
the group's position, so brokers may be away as long as the server has room. One relay of a fleet sends at a time, as
two would break the order; the others wait to take its place.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Final, Protocol

from redis.exceptions import ResponseError

from feedcrawl.domain.operations.kafka_messages import Message, Unfit, message_of
from feedcrawl.store.redis.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from feedcrawl.store.operations.streams import Backlog, Events, Told

logger = logging.getLogger(__name__)

GROUP: Final = "kafka"
CONSUMER: Final = "relay"
"""One consumer name for every leading relay, so that a relay finds the events that its predecessor was given."""
BATCH: Final = 500
LEAD_SEC: Final = 60
"""Seconds of leadership. Longer than any batch takes: `SEND_SEC`, the end of a failed producer, a few server
commands.
"""
SEND_SEC: Final = 30.0
"""The time limit of one batch, in seconds, including a start of the producer."""
IDLE_SEC: Final = 0.5
REPORT_SEC: Final = 60.0
DRAIN_SEC: Final = 5.0
"""The time limit, in seconds, of the batch in flight when the relay is stopped."""
WAITS_SEC: Final = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Waits, in seconds, while the brokers or the server are away."""


class BrokersAway(Exception):
    """Kafka does not accept messages now; the same messages may succeed later."""


class Producer(Protocol):
    """Sends messages to Kafka."""

    async def send(self, messages: Sequence[Message]) -> list[Unfit | None]:
        """Send messages in order; for each message None, or the reason why it can never be sent. Raises
        BrokersAway.
        """

    async def close(self) -> None:
        """Close the connection."""


class Relay:
    """The relay of one process. `topics` is as in `message_of`, `worker` the name of this process."""

    def __init__(self, events: Events, producer: Producer, topics: Mapping[str, str], *, worker: str) -> None:
        self._events = events
        self._producer = producer
        self._topics = topics
        self._worker = worker
        self._leads = False
        self._opened = False
        self._again = True
        self._failures = 0
        self.sent = 0
        self.refused = 0

    async def run(self, stop: asyncio.Event, *, once: bool = False) -> bool:
        """Relay until `stop` is set, or with `once` until this relay leads and all events are sent; False if that
        is impossible.
        """
        report, stopped = asyncio.ensure_future(self._report()), asyncio.ensure_future(stop.wait())
        try:
            while not stop.is_set():
                turn = asyncio.ensure_future(self._turn())
                await asyncio.wait({turn, stopped}, return_when=asyncio.FIRST_COMPLETED)
                await asyncio.wait({turn}, timeout=DRAIN_SEC)  # after a stop
                if not turn.done():  # events that are not acknowledged are sent again
                    turn.cancel()
                    return True
                if once and turn.result() and (self._failures or self._leads):
                    return not self._failures
                await asyncio.wait({stopped}, timeout=turn.result())
            return True
        finally:
            report.cancel()
            stopped.cancel()
            await self._producer.close()
            with contextlib.suppress(StoreUnavailable):
                await asyncio.to_thread(self._leave)

    async def _turn(self) -> float:
        """Send one batch; seconds until the next."""
        try:
            found = await self.step()
        except (BrokersAway, StoreUnavailable) as error:
            self._again = True
            wait = WAITS_SEC[min(self._failures, len(WAITS_SEC) - 1)]
            if not self._failures:
                reason = getattr(error, "code", "brokers_away")
                logger.warning("relay_waits", extra={"reason": reason, "detail": str(error)})
            self._failures += 1
            return wait
        if self._failures:
            logger.warning("relay_back", extra={"failures": self._failures})
            self._failures = 0
        return 0.0 if found else IDLE_SEC

    async def step(self) -> int:
        """Send the next events; their number. 0: there are none, or another relay leads."""
        told = await asyncio.to_thread(self._take)
        fates = [(each, message_of(each.fields, self._topics)) for each in told]
        messages = [message for _, message in fates if isinstance(message, Message)]
        answers = await self._producer.send(messages) if messages else []
        came = iter(answers)
        ends = [(each, next(came) if isinstance(fate, Message) else fate) for each, fate in fates]
        await asyncio.to_thread(self._finish, told, [(each, end) for each, end in ends if isinstance(end, Unfit)])
        self.sent += answers.count(None)
        return len(told)

    def _take(self) -> list[Told]:
        self._leads = self._events.lead(self._worker, LEAD_SEC)
        if not self._leads:
            self._again = True  # events may be left that the previous leader was given
            return []
        if not self._opened:
            self._events.open_group(GROUP)
            self._opened = True
        try:
            return self._next()
        except ResponseError as error:
            if str(error).startswith("NOGROUP"):  # the server was emptied
                self._opened = False
                return []
            raise

    def _next(self) -> list[Told]:
        if self._again:
            if left := self._events.give(GROUP, CONSUMER, BATCH, again=True):
                return left
            self._again = False
        return self._events.give(GROUP, CONSUMER, BATCH, again=False)

    def _finish(self, told: Sequence[Told], unfit: Sequence[tuple[Told, Unfit]]) -> None:
        """Store messages that can never be sent, then acknowledge them: they stop no other message."""
        for each, why in unfit:
            self._events.refuse(each, GROUP, why.reason, why.detail)
            extra = {"id": each.fields.get("id"), "at": each.at, "reason": why.reason, "detail": why.detail}
            logger.warning("event_refused", extra=extra)
        self._events.acknowledge(GROUP, told)
        self.refused += len(unfit)

    def _leave(self) -> None:
        self._events.leave(self._worker)

    async def _report(self) -> None:
        """Log the relay's progress once a minute."""
        while True:
            await asyncio.sleep(REPORT_SEC)
            with contextlib.suppress(StoreUnavailable):
                behind = await asyncio.to_thread(backlog, self._events)
                counts = {"sent": self.sent, "refused": self.refused}
                logger.info("relay", extra=counts | ({} if behind is None else {"waiting": behind.waiting}))


def backlog(events: Events) -> Backlog | None:
    """The relay's backlog; None if no relay has ever run. Raises StoreUnavailable."""
    return next((each for each in events.backlogs() if each.group == GROUP), None)
