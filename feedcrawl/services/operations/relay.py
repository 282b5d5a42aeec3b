"""The relay: the consumer that sends the events of the stream to Kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from feedcrawl.domain.operations.events import Unprocessable
from feedcrawl.domain.operations.kafka_messages import Message, message_of
from feedcrawl.services.operations.consumer import BatchResult, Consumer, GroupSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from feedcrawl.store.operations.streams import Events, StoredEvent

GROUP: Final = "kafka"
AWAY: Final = "brokers_away"
SEND_SEC: Final = 30.0
"""The time limit of one batch, in seconds, including a start of the producer."""


class Producer(Protocol):
    """Sends messages to Kafka."""

    async def send(self, messages: Sequence[Message]) -> list[Unprocessable | None]:
        """Send messages in order; for each message None, or the reason why it can never be sent. Raises
        TargetAway.
        """

    async def close(self) -> None:
        """Close the connection."""


class Topics:
    """The topics of Kafka as the target of a consumer. `topics` is as in `message_of`."""

    def __init__(self, producer: Producer, topics: Mapping[str, str]) -> None:
        self._producer = producer
        self._topics = topics

    async def deliver(self, stored: Sequence[StoredEvent]) -> BatchResult:
        """Send the events that have a topic. Raises TargetAway."""
        fates = [(each, message_of(each.fields, self._topics)) for each in stored]
        messages = [message for _, message in fates if isinstance(message, Message)]
        answers = await self._producer.send(messages) if messages else []
        came = iter(answers)
        ends = [(each, next(came) if isinstance(fate, Message) else fate) for each, fate in fates]
        return BatchResult(answers.count(None), [(each, end) for each, end in ends if isinstance(end, Unprocessable)])

    async def close(self) -> None:
        """Close the connection to the brokers."""
        await self._producer.close()


def relay(events: Events, producer: Producer, topics: Mapping[str, str], *, worker: str) -> Consumer:
    """The relay of the process that is named `worker`."""
    return Consumer(GroupSource(events, GROUP, worker=worker), Topics(producer, topics), name="relay")
