import redis

from feedcrawl.domain.operations.tokens import new_token
from feedcrawl.store.operations.cached_responses import CachedResponses
from feedcrawl.store.operations.tokens import Tokens

ADA = new_token("a1" * 32, "ada", "write", "2026-11-28T07:00:00Z")
EVE = new_token("e2" * 32, "eve", "read", "2026-11-28T06:00:00Z")


def test_tokens_are_found_by_their_digest_and_dropped_by_their_id(redis_client: redis.Redis) -> None:
    tokens = Tokens(redis_client)
    for each in (ADA, EVE):
        tokens.add(each)
    assert tokens.find(ADA.digest) == ADA
    assert tokens.find("b3" * 32) is None
    assert tokens.all() == [EVE, ADA]
    assert tokens.drop(ADA.id) == ADA
    assert (tokens.find(ADA.digest), tokens.drop(ADA.id), tokens.all()) == (None, None, [EVE])


def test_a_record_under_a_wrong_digest_identifies_no_actor(redis_client: redis.Redis) -> None:
    tokens = Tokens(redis_client)
    tokens.add(ADA)
    (name,) = redis_client.keys("fc:*tokens")
    redis_client.hset(name, "b3" * 32, redis_client.hget(name, ADA.digest))
    assert tokens.find("b3" * 32) is None


def test_a_cached_response_is_begun_once_stored_and_forgotten(redis_client: redis.Redis) -> None:
    answers = CachedResponses(redis_client)
    assert answers.begin("name", "mark") is None
    assert answers.begin("name", "other") == "mark"
    answers.keep("name", "the answer")
    assert answers.begin("name", "mark") == "the answer"
    (key,) = redis_client.keys("fc:*answer:name")
    assert 86_000 < redis_client.ttl(key) <= 86_400
    answers.forget("name")
    assert answers.begin("name", "mark") is None
    assert 0 < redis_client.ttl(key) <= 60
