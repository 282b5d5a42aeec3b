"""Counts over time, in each shard: a HASH of time slots for each day, a ZSET of feeds or hosts for each quarter day."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from feedcrawl.domain.frontier.shards import shard_of
from feedcrawl.domain.operations.counters import LIFE_SEC, PART_SEC, SLOT_SEC
from feedcrawl.domain.operations.settings import DAY_SEC
from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from collections.abc import Iterable

    from feedcrawl.domain.operations.counters import Increments
    from feedcrawl.store.redis.client import Client
    from feedcrawl.store.redis.members import Command

MAX_READ = 200
"""Highest members read from each quarter day, from which the highest of several quarter days are computed."""


class Series:
    """Recent counts of the whole fleet. Methods may raise StoreUnavailable."""

    def __init__(self, client: Client, *, shards: int = 1) -> None:
        self._client = client
        self._shards = shards

    def of_feed(self, feed_id: str, increments: Increments, at: float) -> list[Command]:
        """The commands that count a poll; the frontier runs them with `done`."""
        return _commands(keys.shard(shard_of(feed_id, self._shards)), increments, at)

    @staticmethod
    def of_page(shard: int, increments: Increments, at: float) -> list[Command]:
        """The commands that count an article whose task is in this shard; the frontier runs them with `done`."""
        return _commands(keys.shard(shard), increments, at)

    def add(self, commands: Iterable[Command]) -> None:
        """Runs the commands of a result that did not end by `done`."""
        with self._client.pipeline(transaction=False) as pipe:
            for command in commands:
                pipe.execute_command(*command)
            pipe.execute()

    def slots(self, since: float, until: float) -> dict[int, Counter[str]]:
        """The counts between two Unix times, by slot; one round trip for each node."""
        names = self._names("slots", range(int(since) // DAY_SEC, int(until) // DAY_SEC + 1))
        with self._client.pipeline(transaction=False) as pipe:
            for _, name in names:
                pipe.hgetall(name)
            answers = pipe.execute()
        found: dict[int, Counter[str]] = {}
        for (day, _), counts in zip(names, answers, strict=True):
            for field, number in counts.items():
                slot, _, what = field.partition(":")
                found.setdefault(day * DAY_SEC // SLOT_SEC + int(slot), Counter())[what] += int(number)
        return found

    def most_news(self, since: float, until: float, limit: int) -> list[tuple[str, int]]:
        """The feeds with the most new entries in the quarter days between two Unix times."""
        return self._most("news", since, until, limit)

    def most_failures(self, since: float, until: float, limit: int) -> list[tuple[str, int]]:
        """The hosts with the most failed polls and articles in the quarter days between two Unix times."""
        return self._most("failures", since, until, limit)

    def _most(self, name: str, since: float, until: float, limit: int) -> list[tuple[str, int]]:
        with self._client.pipeline(transaction=False) as pipe:
            for _, key in self._names(name, range(int(since) // PART_SEC, int(until) // PART_SEC + 1)):
                pipe.zrange(key, 0, MAX_READ - 1, desc=True, withscores=True)
            answers = pipe.execute()
        found: Counter[str] = Counter()
        for rows in answers:
            found.update({member: int(score) for member, score in rows})
        return sorted(found.items(), key=lambda row: (-row[1], row[0]))[:limit]

    def _names(self, name: str, times: range) -> list[tuple[int, str]]:
        """The keys of these times in all shards, each with its time."""
        return [(time, f"{keys.shard(shard)}{name}:{time}") for time in times for shard in range(self._shards)]


def _commands(prefix: str, increments: Increments, at: float) -> list[Command]:
    slots, part = f"{prefix}slots:{int(at) // DAY_SEC}", int(at) // PART_SEC
    slot = int(at) % DAY_SEC // SLOT_SEC
    commands: list[Command] = [
        ["HINCRBY", slots, f"{slot}:{name}", number] for name, number in increments.counts.items()
    ]
    commands.append(["EXPIRE", slots, LIFE_SEC])
    tops = (("news", increments.feed_id, increments.counts.get("new", 0)), ("failures", increments.failed_host, 1))
    for name, member, number in tops:
        if member is not None:
            top = f"{prefix}{name}:{part}"
            commands += [["ZINCRBY", top, number, member], ["EXPIRE", top, LIFE_SEC]]
    return commands
