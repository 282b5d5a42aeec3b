"""A Kafka of the tests' own: librdkafka's mock brokers, which speak the protocol on loopback, in a process that can be
killed and started again on its port.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable

from confluent_kafka import Consumer, Message, TopicPartition

BROKERS = """
import sys
from confluent_kafka import Producer
held = Producer({"bootstrap.servers": "x", "test.mock.num.brokers": int(sys.argv[1])})
brokers = held.list_topics(timeout=10).brokers.values()
print(",".join(f"{each.host}:{each.port}" for each in brokers), flush=True)
sys.stdin.read()
"""


class Kafka:
    """Brokers in a process of their own; a topic comes to be when it is first named, with four partitions."""

    def __init__(self, brokers: int = 1) -> None:
        command = [sys.executable, "-c", BROKERS, str(brokers)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        assert self._process.stdout is not None
        self.bootstrap = self._process.stdout.readline().strip()
        assert self.bootstrap, "the mock brokers did not start"

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def read(self, topics: Iterable[str], count: int, *, timeout_sec: float = 30) -> list[Message]:
        """All messages of the topics, in order within each partition; `count` of them at least."""
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": "tests", "enable.auto.commit": False})
        try:
            wanted = [
                TopicPartition(topic, number, 0)
                for topic in topics
                for number in consumer.list_topics(topic, timeout=10).topics[topic].partitions
            ]
            ends = {
                (each.topic, each.partition): consumer.get_watermark_offsets(each, timeout=10)[1] for each in wanted
            }
            consumer.assign(wanted)
            found, until = [], time.monotonic() + timeout_sec
            while len(found) < max(count, sum(ends.values())) and time.monotonic() < until:
                found += [each for each in consumer.consume(1000, timeout=0.2) if not each.error()]
        finally:
            consumer.close()
        assert len(found) >= count, f"{len(found)} messages of {count}"
        return found
