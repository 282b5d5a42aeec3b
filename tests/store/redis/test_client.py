"""Each command that the client's type declares exists in redis-py, with these parameters."""

import inspect

import pytest
import redis
from redis.cluster import ClusterPipeline
from redis.commands.core import Script as RedisScript

from feedcrawl.store.redis.client import Client, Commands, Pipeline, Script

KINDS = {
    Client: (redis.Redis, redis.RedisCluster),
    Commands: (redis.Redis, redis.RedisCluster),
    Pipeline: (redis.client.Pipeline, ClusterPipeline),
    Script: (RedisScript,),
}
PAIRS = [
    (kind, name, declared)
    for protocol, kinds in KINDS.items()
    for name, declared in vars(protocol).items()
    if inspect.isfunction(declared) and declared.__module__ == protocol.__module__
    for kind in kinds
]


@pytest.mark.parametrize(("kind", "name", "declared"), PAIRS)
def test_declared_methods_exist_in_redis_py(kind, name, declared):
    there = inspect.signature(getattr(kind, name)).parameters.values()
    own = inspect.signature(declared).parameters.values()
    if not any(each.kind is inspect.Parameter.VAR_KEYWORD for each in there):
        named = {each.name for each in own if each.kind is inspect.Parameter.KEYWORD_ONLY}
        assert named <= {each.name for each in there}
    if not any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in there):
        assert sum(each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for each in own) <= len(there)
