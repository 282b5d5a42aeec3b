import json
import time
from collections.abc import Callable

import pytest
import redis
from scrapy.exceptions import UsageError

from feedcrawl.store.redis.keys import DEAD_LETTERS

Call = Callable[..., tuple[int, str, str]]

UID = "846820ee79c4269c"


@pytest.fixture
def letters(redis_client: redis.Redis) -> list[dict[str, object]]:
    now = time.time()
    found: list[dict[str, object]] = [
        {
            "url": "http://a.test/1",
            "uid": UID,
            "kind": "article",
            "reason": "http_404",
            "at": now - 90_000,
            "payload": '{"feed_id":"f"}',
        },
        {"url": "http://b.test/2", "uid": UID[::-1], "kind": "article", "reason": "http_410", "at": now - 60},
        {"item": "no\nurl\x1b[2J", "reason": "url_malformed", "detail": "x", "at": now},
    ]
    redis_client.rpush(DEAD_LETTERS, *map(json.dumps, found))
    return found


def test_list(call: Call, letters: list[dict[str, object]]) -> None:
    code, out, _ = call("dlq", "list")
    assert code == 0
    assert [line.split()[2:] for line in out.splitlines()] == [
        ["http_404", "http://a.test/1"],
        ["http_410", "http://b.test/2"],
        ["url_malformed", "no", "url", "[2J"],
    ]
    assert json.loads(call("dlq", "list", "--json")[1]) == letters


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (["--reason", "http_404"], [0]),
        (["--host", "B.test"], [1]),
        (["--older-than", "1d"], [0]),
        (["--newer-than", "1h"], [1, 2]),
        (["--newer-than", "1h", "--host", "b.test"], [1]),
        (["--limit", "2"], [0, 1]),
        (["http://b.test/2", UID], [0, 1]),
        (["--reason", "none"], []),
    ],
)
def test_conditions(call: Call, letters: list[dict[str, object]], conditions: list[str], expected: list[int]) -> None:
    assert json.loads(call("dlq", "list", "--json", *conditions)[1]) == [letters[number] for number in expected]


def test_show(call: Call, letters: list[dict[str, object]]) -> None:
    code, out, _ = call("dlq", "show", UID)
    assert (code, json.loads(out)) == (0, {**letters[0], "payload": {"feed_id": "f"}})
    code, out, err = call("dlq", "show", "http://other.test/")
    assert (code, out) == (2, "")
    assert "http://other.test/" in err


def test_replay_and_drop(call: Call, letters: list[dict[str, object]], redis_client: redis.Redis) -> None:
    assert call("dlq", "replay", "http://a.test/1")[:2] == (0, "1 replayed, 0 refused\n")
    code, out, _ = call("dlq", "replay", "--all", "--json")
    assert (code, json.loads(out)) == (0, {"replayed": 1, "refused": 1})
    assert redis_client.llen(DEAD_LETTERS) == 1
    assert call("dlq", "drop", "--reason", "url_malformed")[:2] == (0, "1 dropped\n")
    assert redis_client.llen(DEAD_LETTERS) == 0
    assert call("dlq", "drop", "http://a.test/1")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say what to do"),
        (["mend"], "say what to do"),
        (["drop"], "--all"),
        (["replay", "--limit", "3"], "--all"),
        (["list", "--limit", "-1"], "whole number"),
    ],
)
def test_bad_arguments_are_refused(
    call: Call, letters: list[dict[str, object]], arguments: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        call("dlq", *arguments)


def test_a_bad_age_is_refused(call: Call, letters: list[dict[str, object]]) -> None:
    code, _, err = call("dlq", "list", "--older-than", "soon")
    assert code == 2
    assert "bad_age" in err
