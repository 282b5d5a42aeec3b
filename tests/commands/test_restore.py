from collections.abc import Callable
from pathlib import Path

import pytest
import redis
from scrapy.exceptions import UsageError

Call = Callable[..., tuple[int, str, str]]


def used(call: Call, tmp_path: Path, redis_client: redis.Redis) -> None:
    """A server with a feed, which its data directory knows, and then without."""
    assert call("subscribe", "http://a.test/feed", "--as-is")[0] == 0
    assert call("restore", "--accept")[:2] == (0, "the server is accepted as it is\n")
    stored = redis_client.get(next(iter(redis_client.keys("fc:{0}:feed:*"))))
    (tmp_path / "data" / "subscriptions.ndjson").write_text(f'{{"feed":{stored}}}\n')
    redis_client.flushall()


def test_commands_refuse_an_emptied_server_until_its_restore(
    call: Call, tmp_path: Path, redis_client: redis.Redis
) -> None:
    used(call, tmp_path, redis_client)
    for command in (["feeds"], ["subscribe", "http://b.test/feed", "--as-is"], ["dlq", "list"]):
        code, out, err = call(*command)
        assert (code, out) == (1, "")
        assert "has lost its data" in err
        assert "scrapy restore" in err
        assert "(emptied)" in err
    assert redis_client.keys("fc:*feed*") == []
    assert call("restore")[:2] == (0, "1 feeds, 0 sitemaps and 0 articles are there again\n")
    assert "http://a.test/feed" in call("feeds")[1]


def test_an_emptied_server_may_be_accepted(call: Call, tmp_path: Path, redis_client: redis.Redis) -> None:
    used(call, tmp_path, redis_client)
    assert call("restore", "--accept")[0] == 0
    assert call("feeds", "--json")[:2] == (0, "[]\n")


def test_a_restore_leaves_a_server_with_its_data_unchanged(call: Call, redis_client: redis.Redis) -> None:
    assert call("subscribe", "http://a.test/feed", "--as-is")[0] == 0
    assert call("restore", "--accept")[0] == 0
    before = {key: redis_client.dump(key) for key in redis_client.scan_iter()}
    code, out, _ = call("restore")
    assert (code, out.partition(" (")[0]) == (0, "nothing to restore: the server has the data of this directory")
    assert "1 feeds" in out
    assert {key: redis_client.dump(key) for key in redis_client.scan_iter()} == before
    assert call("restore", "--again")[1].endswith("are there again\n")


def test_a_restore_takes_no_argument(call: Call) -> None:
    with pytest.raises(UsageError):
        call("restore", "file")
