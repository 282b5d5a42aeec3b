"""The relay: what the stream of events tells goes on to Kafka, at least once and in order.

The stream is the outbox. A consumer group remembers what was sent: an event is acknowledged after the brokers have
confirmed it, so a kill in between sends it again, under the id that it had. The stream is never trimmed past the
group, so brokers may be away for as long as the server has room. One relay of a fleet sends at a time, as two would
break the order; the others wait to take its place.
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
"""One name for whichever relay leads, so that it finds what the one before it was given."""
BATCH: Final = 500
LEAD_SEC: Final = 60
"""Longer than any batch takes: `SEND_SEC`, the end of a producer that failed, a few commands of the server."""
SEND_SEC: Final = 30.0
"""For one batch, a start of the producer included."""
IDLE_SEC: Final = 0.5
REPORT_SEC: Final = 60.0
DRAIN_SEC: Final = 5.0
"""For the batch under way when the relay is stopped."""
WAITS_SEC: Final = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Back-off while the brokers or the server are away."""


class BrokersAway(Exception):
    """Kafka does not take what it is sent; the same may succeed later."""


class Producer(Protocol):
    """What sends to Kafka."""

    async def send(self, messages: Sequence[Message]) -> list[Unfit | None]:
        """Sends in order, and answers for each message None, or why it can never be sent. Raises BrokersAway."""

    async def close(self) -> None:
        """Ends the connection."""


class Relay:
    """One process's part in it. `topics` is as in `message_of`, `worker` the name of this process."""

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
        """Relays until `stop` is set, or `once` it leads and all is sent; False where that cannot be done."""
        report, stopped = asyncio.ensure_future(self._report()), asyncio.ensure_future(stop.wait())
        try:
            while not stop.is_set():
                turn = asyncio.ensure_future(self._turn())
                await asyncio.wait({turn, stopped}, return_when=asyncio.FIRST_COMPLETED)
                await asyncio.wait({turn}, timeout=DRAIN_SEC)  # after a stop
                if not turn.done():  # what is not acknowledged is sent again
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
        """One batch; seconds until the next."""
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
        """Deals with the next events; how many. 0: there is none, or another relay leads."""
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
            self._again = True  # whoever leads may leave what it was given
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
        """What can never be sent is kept aside before it is acknowledged; it stops nothing."""
        for each, why in unfit:
            self._events.refuse(each, GROUP, why.reason, why.detail)
            extra = {"id": each.fields.get("id"), "at": each.at, "reason": why.reason, "detail": why.detail}
            logger.warning("event_refused", extra=extra)
        self._events.acknowledge(GROUP, told)
        self.refused += len(unfit)

    def _leave(self) -> None:
        self._events.leave(self._worker)

    async def _report(self) -> None:
        """Says each minute how it goes."""
        while True:
            await asyncio.sleep(REPORT_SEC)
            with contextlib.suppress(StoreUnavailable):
                behind = await asyncio.to_thread(backlog, self._events)
                counts = {"sent": self.sent, "refused": self.refused}
                logger.info("relay", extra=counts | ({} if behind is None else {"waiting": behind.waiting}))


def backlog(events: Events) -> Backlog | None:
    """How far behind the relay is; None where there never was one. Raises StoreUnavailable."""
    return next((each for each in events.backlogs() if each.group == GROUP), None)
