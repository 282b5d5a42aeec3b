"""A server that dies loses the end of its writes: work is then repeated, and no announced record is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import redis
from campaign import SETTINGS, Account, Campaign
from redis_process import Server, redis_of_its_own, running_redis
from world import world_in

from feedcrawl.store.frontier.packed import unpacked

PATIENCE = {name: value for name, value in SETTINGS.items() if name != "FEEDCRAWL_MAX_ATTEMPTS"}
NAMES = {b"new_entry": "article_uid", b"article_ready": "uid"}
"""The field of an event that names its article."""
Command = list[bytes]


def commands(file: BinaryIO) -> Iterator[Command]:
    """The commands of an append-only file."""
    while header := file.readline():
        yield [file.read(int(file.readline()[1:]) + 2)[:-2] for _ in range(int(header[1:]))]


def steps(path: Path) -> Iterator[tuple[list[Command], int]]:
    """What a server loads whole or not at all, a command or a transaction, and where in the file it ends."""
    with path.open("rb") as file:
        step: list[Command] = []
        for command in commands(file):
            step.append(command)
            if step[0][0].upper() != b"MULTI" or command[0].upper() == b"EXEC":
                yield step, file.tell()
                step = []


def events_of(step: list[Command]) -> Iterator[tuple[str, str]]:
    """The kind and the article of each event in a step, and `ended` for each article whose task has ended."""
    for command in step:
        if command[:2] == [b"XADD", b"feedcrawl:events"]:
            event = dict(zip(command[-6::2], command[-5::2], strict=False))
            data = json.loads(event[b"data"])
            if event[b"type"] in NAMES:
                yield event[b"type"].decode(), data[NAMES[event[b"type"]]]
        elif command[0] == b"SET" and b":t:" in command[1]:
            task = unpacked(command[1].decode().partition(":t:")[2], command[2].decode())
            if task["kind"] == "article" and task.get("status") == "fetched":
                yield "ended", task["id"]


def is_stored(client: redis.Redis, kind: str, uid: str) -> bool:
    if kind == "new_entry":  # the article that it names is there, or will be
        return bool(client.exists(f"fc:{{0}}:t:{uid}"))
    return client.hget(f"rss:article_canonical:{uid}", "status") == "success"


def test_every_announced_article_survives_each_lost_write(tmp_path: Path) -> None:
    with redis_of_its_own() as server, world_in(tmp_path, url=server.url, **PATIENCE) as world:
        campaign = Campaign(world, pages=4)
        argument = world.feeds_file("".join(f"{campaign.site('site')} kept\n" for _ in range(2)))
        world.crawl("whole", argument)
        (written,) = server.folder.glob("appendonlydir/*.incr.aof")
        server.kill()
        seen: dict[tuple[str, str], int] = {}
        with running_redis() as url, redis.Redis.from_url(url, decode_responses=True) as client:
            for step, end in steps(written):
                for command in step:
                    client.execute_command(*command)
                for kind, uid in events_of(step):
                    assert is_stored(client, kind, uid), f"{kind} of {uid} at byte {end}"
                    seen.setdefault((kind, uid), end)
        assert {kind for kind, _ in seen} >= {"new_entry", "article_ready", "ended"}
        uids = {uid for kind, uid in seen if kind == "ended"}
        assert len(uids) == 8
        assert all(seen["article_ready", uid] < seen["ended", uid] for uid in uids)
        middle = sorted(uids, key=lambda uid: seen["ended", uid])[4]
        resume_from(server, written, seen["article_ready", middle])  # announced, and the end of the task is lost
        world.crawl("again", argument)
        campaign.rest()  # leases of the worker before run out
        assert campaign.account() == Account(articles=8, lost=0, stored_twice=0, leases_left=0)


def resume_from(server: Server, written: Path, end: int) -> None:
    """Starts the server with what it had written up to there."""
    with written.open("r+b") as file:
        file.truncate(end)
    server.start()
