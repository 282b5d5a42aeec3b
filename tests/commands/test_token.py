import json
from collections.abc import Callable

import pytest
import redis
from scrapy.exceptions import UsageError

from feedcrawl.domain.operations.tokens import token_digest
from feedcrawl.store.redis.keys import TOKENS

Call = Callable[..., tuple[int, str, str]]


def test_a_token_is_shown_once_and_stored_as_its_digest(call: Call, redis_client: redis.Redis) -> None:
    code, out, err = call("token", "create", "newsroom", "--scope", "write")
    text = out.strip()
    digest = token_digest(text)
    assert code == 0
    assert list(redis_client.hgetall(TOKENS)) == [digest]
    assert text not in str(redis_client.hgetall(TOKENS))
    assert "newsroom" in err
    assert text not in err
    code, out, _ = call("token", "list")
    assert out.split()[:3] == [str(digest)[:12], "newsroom", "write"]
    assert text not in out


def test_tokens_are_listed_as_json(call: Call) -> None:
    made = json.loads(call("token", "create", "ada", "--json")[1])
    assert (made["actor"], made["scope"]) == ("ada", "read")
    listed = json.loads(call("token", "list", "--json")[1])
    assert (listed["id"], listed["actor"], listed["scope"]) == (made["id"], "ada", "read")
    assert "token" not in listed


def test_a_token_is_revoked_by_its_id(call: Call, redis_client: redis.Redis) -> None:
    made = json.loads(call("token", "create", "ada", "--json")[1])
    call("token", "create", "eve")
    assert call("token", "revoke", made["id"])[:2] == (0, f"{made['id']}  ada\n")
    assert redis_client.hlen(TOKENS) == 1
    code, out, err = call("token", "revoke", made["id"])
    assert (code, out) == (2, "")
    assert "there is no token" in err


@pytest.mark.parametrize("arguments", [["a b"], ["ada", "--scope", "root"]])
def test_a_bad_name_or_scope_of_a_token_is_refused(call: Call, redis_client: redis.Redis, arguments: list[str]) -> None:
    assert call("token", "create", *arguments)[0] == 2
    assert not redis_client.exists(TOKENS)


@pytest.mark.parametrize("arguments", [[], ["make"], ["create"], ["list", "x"], ["revoke"]])
def test_an_unknown_action_is_refused(call: Call, arguments: list[str]) -> None:
    with pytest.raises(UsageError, match="say `create`"):
        call("token", *arguments)
