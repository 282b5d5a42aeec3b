"""Clients of redis-py that raise the errors of `errors.py`: the translation of redis-py's errors."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, TypeVar

import redis
from redis import exceptions

from feedcrawl.store.redis.errors import ServerRefused, StoreUnavailable

Client = TypeVar("Client")

# In some versions of redis-py RedisClusterException is not a RedisError.
_REDIS_ERRORS = (exceptions.RedisError, exceptions.RedisClusterException)
# Codes of error replies by their first word. redis-py prefixes the pipeline's command, Redis 6 the place in the script.
_WRAPPINGS = re.compile(r"(?s)^.* caused error: |^ERR Error running script .*?: -(?=[A-Z]+ )")
_REPLIES = {
    "OOM": "out_of_memory",
    "MISCONF": "disk",
    "READONLY": "read_only",
    "LOADING": "loading",
    "BUSY": "busy",
    "NOREPLICAS": "replicas",
    "MASTERDOWN": "replicas",
    "CLUSTERDOWN": "cluster",
    "TRYAGAIN": "cluster",
    "NOAUTH": "auth",
    "WRONGPASS": "auth",
    "NOPERM": "auth",
}
# redis-py's messages about a cluster as a whole; any other RedisClusterException is a bug of the caller.
_CLUSTER_TROUBLE = {
    "Redis Cluster cannot be connected": "unreachable",
    "All slots are not covered": "cluster",
    "startup_nodes could not agree": "cluster",
}
_KINDS: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.BusyLoadingError, "loading"),
    (exceptions.AuthenticationError, "auth"),
    (exceptions.AuthorizationError, "auth"),
    (exceptions.NoPermissionError, "auth"),
    (exceptions.OutOfMemoryError, "out_of_memory"),
    (exceptions.ReadOnlyError, "read_only"),
    (exceptions.MasterDownError, "replicas"),
    (exceptions.ClusterError, "cluster"),
    (exceptions.SlotNotCoveredError, "cluster"),
    (exceptions.TryAgainError, "cluster"),
    (exceptions.AskError, "cluster"),
    (exceptions.MovedError, "cluster"),
    (exceptions.TimeoutError, "timeout"),
    (exceptions.ConnectionError, "unreachable"),
)


def unavailable(error: Exception) -> StoreUnavailable | None:
    """The StoreUnavailable for an error of redis-py.

    None for errors that are bugs (a wrong type, a missing script, bad syntax): the caller raises those unchanged.
    """
    if isinstance(error.__cause__, ServerRefused):
        return StoreUnavailable(error.__cause__.code, error.__cause__.detail)
    code = _code(error)
    return None if code is None else StoreUnavailable(code, str(error))


def _code(error: Exception) -> str | None:
    for kind, code in _KINDS:
        if isinstance(error, kind):
            return code
    if isinstance(error, exceptions.RedisClusterException):
        return next((code for words, code in _CLUSTER_TROUBLE.items() if str(error).startswith(words)), None)
    if isinstance(error, exceptions.ResponseError):
        return _REPLIES.get(_WRAPPINGS.sub("", str(error)).partition(" ")[0])
    return None


def raising_ours(client: type[Client]) -> type[Client]:
    """A subclass of a redis-py client class whose commands, scripts and pipelines raise StoreUnavailable.

    The redis-py error is the cause. Only errors that leave the client are translated, since redis-py itself handles
    some errors inside (a moved slot of a cluster, a script that must be loaded).
    """
    direct = (_Direct,) if client is redis.Redis else ()
    return type(client.__name__, (_Client, *direct, client), {})


@cache
def _pipeline_raising_ours(pipeline: Any) -> Any:
    return type(pipeline.__name__, (_Pipeline, pipeline), {})


class _Client:
    def execute_command(self, *args: Any, **options: Any) -> Any:
        try:
            return super().execute_command(*args, **options)  # type: ignore[misc]
        except _REDIS_ERRORS as error:
            ours = unavailable(error)
            if ours is None:
                raise
            raise ours from error

    def pipeline(self, *args: Any, **options: Any) -> Any:
        pipe: Any = super().pipeline(*args, **options)  # type: ignore[misc]
        pipe.__class__ = _pipeline_raising_ours(pipe.__class__)  # redis-py has no parameter for the class
        return pipe


class _Direct:
    """A command of redis.Redis without its code for retries and metrics, which are off: 26 µs in place of 37.

    A connection whose command fails closes itself.
    """

    def execute_command(self, *args: Any, **options: Any) -> Any:
        client: Any = self
        connection = client.connection_pool.get_connection()
        try:
            connection.send_command(*args)
            return client.parse_response(connection, args[0], **options)
        finally:
            client.connection_pool.release(connection)


class _Pipeline:
    def execute(self, *args: Any, **options: Any) -> Any:
        try:
            return super().execute(*args, **options)  # type: ignore[misc]
        except _REDIS_ERRORS as error:
            ours = unavailable(error)
            if ours is None:
                raise
            raise ours from error
