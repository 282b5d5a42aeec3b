import pickle
from pathlib import Path

import pytest
import redis
from redis import exceptions

from feedcrawl.domain.errors import FeedcrawlError, Refusal
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import ServerRefused, StoreUnavailable
from feedcrawl.store.redis.raising import raising_ours, unavailable


class Broken(redis.Redis):
    """A client whose commands and pipelines fail with the error given."""

    error: Exception

    def execute_command(self, *args, **options):
        raise self.error

    def pipeline(self, *args, **options):
        return BrokenPipeline(self.connection_pool, self.response_callbacks, True, None)


class BrokenPipeline(redis.client.Pipeline):
    def execute(self, raise_on_error=True):
        raise Broken.error


CALLS = {
    "command": lambda client: client.get("key"),
    "script": lambda client: client.register_script("return 1")(),
    "pipeline": lambda client: client.pipeline().get("key").execute(),
}


@pytest.fixture(params=CALLS)
def call(request, monkeypatch):
    """Runs a command, a script or a pipeline that fails inside redis-py with an error."""

    def call(error):
        monkeypatch.setattr(Broken, "error", error, raising=False)
        CALLS[request.param](raising_ours(Broken)())

    return call


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (exceptions.ConnectionError("refused"), "unreachable"),
        (exceptions.RedisClusterException("Redis Cluster cannot be connected. Please provide …"), "unreachable"),
        (exceptions.RedisClusterException("All slots are not covered after query all startup_nodes."), "cluster"),
        (exceptions.SlotNotCoveredError('Slot "7" is not covered by the cluster.'), "cluster"),
        (exceptions.ClusterError("TTL exhausted."), "cluster"),
        (exceptions.MaxConnectionsError("too many"), "unreachable"),
        (exceptions.TimeoutError("5 s"), "timeout"),
        (exceptions.BusyLoadingError("LOADING"), "loading"),
        (exceptions.ResponseError("MISCONF Errors writing to the AOF file: No space left on device"), "disk"),
        (exceptions.ResponseError("BUSY Valkey is busy running a script."), "busy"),
        (exceptions.ResponseError("NOREPLICAS Not enough good replicas to write."), "replicas"),
        (exceptions.ResponseError("OOM command not allowed when used memory > 'maxmemory'."), "out_of_memory"),
        (
            exceptions.ResponseError(
                "ERR Error running script (call to f_0): @user_script:1: @user_script: 1: -OOM command not allowed"
            ),
            "out_of_memory",
        ),
        (
            exceptions.ResponseError("Command # 1 (SET a b) of pipeline caused error: MISCONF Errors writing"),
            "disk",
        ),
        (exceptions.ReadOnlyError("You can't write against a read only replica."), "read_only"),
        (exceptions.NoPermissionError("this user has no permissions"), "auth"),
    ],
)
def test_errors_of_redis_become_store_unavailable(call, error, code):
    with pytest.raises(StoreUnavailable) as raised:
        call(error)
    assert raised.value.code == code
    assert raised.value.__cause__ is error
    assert str(raised.value).startswith(code)


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ResponseError("WRONGTYPE Operation against a key holding the wrong kind of value"),
        exceptions.RedisClusterException("RPOPLPUSH - all keys must map to the same key slot"),
        exceptions.ResponseError("BUSYGROUP Consumer Group name already exists"),
        exceptions.ResponseError("Command # 1 (SET a LOADING MISCONF) of pipeline caused error: WRONGTYPE Operation"),
        exceptions.NoScriptError("NOSCRIPT No matching script."),
        exceptions.DataError("Invalid input of type: 'dict'"),
        KeyError("not ours"),
    ],
)
def test_bugs_pass_as_they_are(call, error):
    with pytest.raises(type(error)) as raised:
        call(error)
    assert raised.value is error


def test_an_embedded_server_that_cannot_start_gives_its_reason():
    error = exceptions.ConnectionError("no socket")
    error.__cause__ = ServerRefused("aof_damaged", "put back a copy")
    found = unavailable(error)
    assert (found.code, found.detail) == ("aof_damaged", "put back a copy")


@pytest.mark.parametrize(
    ("error", "code", "detail", "text"),
    [
        (StoreUnavailable("timeout", "5 s"), "timeout", "5 s", "timeout: 5 s"),
        (ServerRefused("no_aof", "set it"), "no_aof", "set it", "no_aof: set it"),
        (DiskUnavailable(Path("/d/x"), "disk_full"), "disk_full", "/d/x", "disk_full: /d/x"),
        (Refusal("html", "a page"), "html", "a page", "html: a page"),
        (Refusal("empty"), "empty", "", "empty"),
    ],
)
def test_every_error_has_a_code_and_crosses_process_borders(error, code, detail, text):
    for each in (error, pickle.loads(pickle.dumps(error))):
        assert isinstance(each, FeedcrawlError)
        assert (each.code, each.detail, str(each)) == (code, detail, text)
