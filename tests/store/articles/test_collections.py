from collections.abc import Callable
from typing import Any

import pytest
import redis

from feedcrawl.store.articles.collections import DEFAULT, Collections, full_name


@pytest.fixture
def collections(redis_client: redis.Redis) -> Collections:
    return Collections(redis_client)


def test_a_collection_lists_its_members_the_last_first(collections: Collections, queue: Callable[..., Any]) -> None:
    own = full_name("ada", DEFAULT)
    for at, media_id in ((1.0, "m1"), (2.0, "m2"), (3.0, "m1")):
        queue(collections.attach, [own], media_id, at)
    assert collections.members(own) == ["m2", "m1"]
    assert collections.members(own, 1) == ["m2"]
    assert collections.members(full_name("bob", DEFAULT)) == []


def test_the_collections_of_an_article_are_known(collections: Collections, queue: Callable[..., Any]) -> None:
    queue(collections.attach, [full_name("ada", DEFAULT), full_name("bob", DEFAULT)], "m1", 1.0)
    assert collections.holders("m1") == {"ada/default", "bob/default"} == queue(collections.query_holders, "m1")[0]
    queue(collections.detach, [full_name("ada", DEFAULT)], "m1")
    assert collections.holders("m1") == {"bob/default"}
    assert collections.members(full_name("ada", DEFAULT)) == []
    assert collections.members(full_name("bob", DEFAULT)) == ["m1"]
