"""What feeds and sitemaps have in common in the store: ids in shards, URLs, texts, journals."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
import redis

from feedcrawl.store.redis.members import Members

IDS = [f"id-{number}" for number in range(7)]


class Things(Members[str]):
    kind = "thing"
    journals = "notes"
    page_size = 2

    def load(self, ids: Sequence[str]) -> dict[str, str]:
        return {own: f"{text} {polls}" for own, text, polls in self._pairs(ids, "polls")}

    def add(self, own: str, url_key: str) -> None:
        self._client.sadd(self._list(own), own)
        self._client.set(self._key("thing", own), f"text of {own}")
        self._client.hset(self._by_url(url_key), url_key, own)

    def run(self, commands: list[list[str | int]]) -> None:
        for command in commands:
            self._client.execute_command(*command)


@pytest.fixture(params=[1, 3], ids=["one shard", "three shards"])
def things(request: Any, redis_client: redis.Redis) -> Things:
    made = Things(redis_client, shards=request.param, journal_length=3)
    for own in IDS:
        made.add(own, f"a.test/{own}")
    return made


def test_members_are_found_by_url_and_in_pages(things: Things) -> None:
    assert things.count() == len(IDS)
    assert (things.by_url("a.test/id-3"), things.by_url("a.test/other")) == ("id-3", None)
    assert sorted(things.all()) == [f"text of {own} None" for own in IDS]
    pages = list(things.pages(2))
    assert sorted(own for _, page in pages for own in page) == IDS
    assert {shard for shard, _ in pages} <= set(range(things.shards))


def test_a_shard_is_read_with_a_cursor(things: Things) -> None:
    found: set[str] = set()
    for shard in range(things.shards):
        cursor, ids = things.batch(shard, 0, 2)
        found |= set(ids)
        while cursor:
            cursor, ids = things.batch(shard, cursor, 2)
            found |= set(ids)
    assert found == set(IDS)


def test_unknown_ids_are_left_out(things: Things) -> None:
    assert things.texts(["id-1", "id-99"]) == ["text of id-1"]
    assert things.load(["id-99", "id-2"]) == {"id-2": "text of id-2 None"}


def test_a_journal_has_the_newest_lines_first_and_of_a_repeated_poll_the_last(things: Things) -> None:
    for poll_id, result in (("1", "fetched"), ("2", "fetched"), ("3", "http_503"), ("3", "fetched")):
        things.run(things.note("id-0", {"poll_id": poll_id, "result": result}))
    assert [(line["poll_id"], line["result"]) for line in things.journal("id-0")] == [
        ("3", "fetched"),
        ("2", "fetched"),
    ]
    assert things.journal("id-1") == []


def test_a_line_of_a_journal_has_no_password(things: Things) -> None:
    things.run(things.note("id-0", {"poll_id": "1", "detail": "http://ann:secret@a.test/"}))
    assert "secret" not in json.dumps(things.journal("id-0"))
