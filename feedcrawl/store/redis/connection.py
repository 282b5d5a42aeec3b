"""Connects to Redis: to the server or cluster named by REDIS_URL, or to the embedded server.

    with connect(url=None, data_dir=Path("data")) as connection:
        connection.client.get("…")

The server's version and settings are checked once, at the start (`check_server`). After that every command, script and
pipeline of the client raises StoreUnavailable if the server is in trouble.
"""

from __future__ import annotations

import logging
import pkgutil
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Self, cast

import redis
from hiredis import pack_command
from redis import exceptions
from redis.backoff import NoBackoff
from redis.cluster import ClusterPipeline, RedisCluster
from redis.connection import ConnectionInterface, PythonRespSerializer
from redis.retry import Retry

from feedcrawl.store.redis.embedded import EmbeddedServer, EmbeddedSocket, attach, detach
from feedcrawl.store.redis.errors import ServerRefused
from feedcrawl.store.redis.raising import raising_ours

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from redis.cluster import ClusterNode

    from feedcrawl.store.redis.client import Client, Pipeline

__all__ = [
    "Connection",
    "check_server",
    "connect",
    "get_each",
    "in_order",
    "is_cluster",
]

logger = logging.getLogger(__name__)

OLDEST_VERSION = (6, 2)
_NAMES_A_SERVER = frozenset({"url", "host", "port", "unix_socket_path", "connection_pool"})
_NOT_PASSED_ON = frozenset({"url", "redis_cls", "retry_on_timeout", "encoding", "decode_responses"})
_DEFAULTS: dict[str, object] = {
    "socket_timeout": 5.0,
    "socket_connect_timeout": 5.0,
    "health_check_interval": 30,
}
# Callers cannot change these: surrogateescape reads any bytes that other programs wrote and writes them back unchanged;
# protocol 2 gives replies the same shape under every redis-py. Commands are never retried, since the first try may have
# been executed.
_FIXED: dict[str, object] = {
    "encoding": "utf-8",
    "encoding_errors": "surrogateescape",
    "decode_responses": True,
    "protocol": 2,
}


class Connection:
    """A client, and the embedded server if used. `warnings` are findings of the check that did not refuse."""

    def __init__(self, client: Client, server: EmbeddedServer | None = None) -> None:
        self.client = client
        self.warnings: tuple[str, ...] = ()
        self._server = server

    @property
    def socket_path(self) -> Path | None:
        """The socket of the embedded server; None for another server."""
        return self._server.socket_path if self._server else None

    @property
    def embedded(self) -> bool:
        """True if the client is connected to the embedded server."""
        return self._server is not None

    def close(self) -> None:
        """Closes the client; the embedded server ends with its last connection of any process. Safe to repeat."""
        for node in _nodes(self.client, all_of_them=True):
            node.close()
            node.connection_pool.disconnect()
        if self._server:
            server, self._server = self._server, None
            detach(server)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def names_a_server(parameters: Mapping[str, object]) -> bool:
    """True if the connection parameters name a server; otherwise the embedded server is used."""
    return any(parameters.get(name) is not None for name in _NAMES_A_SERVER)


def connect(
    *,
    url: str | None,
    data_dir: Path,
    unsafe: bool = False,
    parameters: Mapping[str, object] | None = None,
    fsync: str = "everysec",
) -> Connection:
    """The checked connection to the server named by `url` or `parameters` (scrapy-redis's REDIS_PARAMS), else to the
    embedded server.

    `data_dir` is the directory of the embedded server's data, `fsync` its `appendfsync`. If the server is a node of a
    Redis Cluster, the connection is to the whole cluster. Timeouts are 5 s unless `parameters` sets others; a timeout
    of None counts as unset, so that no command waits for ever (a blocking command must stay below the timeout). Raises
    ServerRefused.
    """
    given = {name: value for name, value in (parameters or {}).items() if value is not None}
    url = url or cast("str | None", given.get("url"))
    named = bool(url) or names_a_server(given)
    connection = Connection(_client(url, given)) if named else _embedded(attach(data_dir, fsync=fsync), given)
    try:
        connection.warnings = check_server(connection.client, unsafe=unsafe)
        if not connection.embedded and connection.client.info("cluster").get("cluster_enabled"):
            connection.close()
            connection.client = _cluster(url, given)
            connection.warnings = check_server(connection.client, unsafe=unsafe)
    except BaseException:
        connection.close()
        raise
    for warning in connection.warnings:
        logger.warning(warning)
    return connection


def _options(given: Mapping[str, object]) -> dict[str, Any]:
    passed = {name: value for name, value in given.items() if name not in _NOT_PASSED_ON}
    return {**_DEFAULTS, **passed, **_FIXED, "retry": Retry(NoBackoff(), 0)}


class _Packer:
    """Encodes commands with hiredis (3 µs in place of 28 for an event), and those that hiredis refuses, such as values
    that are not UTF-8, with redis-py's own packer.
    """

    def __init__(self, encode: Callable[[object], bytes]) -> None:
        self._other = PythonRespSerializer(6000, encode)

    def pack(self, *words: Any) -> list[bytes]:
        """A command as sent; its name may be two words (`CONFIG GET`)."""
        try:
            return [pack_command((*words[0].split(), *words[1:]))]
        except (TypeError, UnicodeEncodeError):
            return self._other.pack(*words)  # type: ignore[no-any-return,no-untyped-call]


def _use_packer(connection: ConnectionInterface) -> None:
    packer = _Packer(connection.encoder.encode)  # type: ignore[attr-defined]
    connection._command_packer = packer  # type: ignore[attr-defined]  # noqa: SLF001 - a cluster takes no packer


def _opened(connection: ConnectionInterface) -> None:
    connection.on_connect()  # type: ignore[no-untyped-call]
    _use_packer(connection)


def _client(url: str | None, given: Mapping[str, object]) -> Client:
    kind = given.get("redis_cls", redis.Redis)
    made = raising_ours(pkgutil.resolve_name(kind) if isinstance(kind, str) else cast("type", kind))
    options = _options(given) | {"redis_connect_func": _opened}
    client: Client = made.from_url(url, **options) if url else made(**options)
    return client


def _cluster(url: str | None, given: Mapping[str, object]) -> Client:
    """The client of the whole cluster to which the named node belongs."""
    options = _options(given) | {"redis_connect_func": _use_packer}
    try:
        made = raising_ours(RedisCluster)
        client: object = made.from_url(url, **options) if url else made(**options)
    except (exceptions.RedisError, exceptions.RedisClusterException, TypeError, ValueError) as error:
        detail = (
            f"the server is part of a Redis Cluster that cannot be used ({error}): name one of its nodes in REDIS_URL "
            "by host and port, without a database, and see that its `CLUSTER INFO` says cluster_state:ok"
        )
        raise ServerRefused("cluster", detail) from error
    return cast("Client", client)


def is_cluster(client: object) -> bool:
    """True if the client is connected to a cluster, whose nodes each hold a part of the keys."""
    return isinstance(client, RedisCluster)


def in_order(pipe: Pipeline) -> None:
    """Makes sure that queued commands run before those queued later: executes a cluster's pipeline here."""
    queued: object = pipe
    if isinstance(queued, ClusterPipeline):
        queued.execute()


def get_each(client: Client, names: Sequence[str]) -> list[str | None]:
    """The values of these keys, in order and in one round trip, on a cluster too."""
    if not is_cluster(client):
        return list(client.mget(names)) if names else []
    with client.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.get(name)
        return list(pipe.execute())


def key_page(client: Client, cursor: int, pattern: str, size: int, node: ClusterNode | None) -> tuple[int, list[str]]:
    """The next cursor, 0 at the end, and the matching names among about `size` keys: of this node of a cluster, or of
    the one server if `node` is None.
    """
    if node is None:
        return client.scan(cursor, match=pattern, count=size)
    cluster: Any = client
    cursors, names = cluster.scan(cursor, match=pattern, count=size, target_nodes=node)
    return next(iter(cursors.values())), names


def key_pages(client: Client, pattern: str, size: int) -> Iterator[list[str]]:
    """The names of all keys that match, in no order. Each list, which may be empty, is that of about `size` keys and
    costs one command, so a reader can pause in between, however many keys there are.
    """
    cluster: Any = client
    for node in cluster.get_primaries() if is_cluster(client) else (None,):
        cursor, names = key_page(client, 0, pattern, size, node)
        yield names
        while cursor:
            cursor, names = key_page(client, cursor, pattern, size, node)
            yield names


def members_of(client: Client, sets: Sequence[str], size: int) -> Iterator[tuple[int, list[str]]]:
    """The members of sets, in no order, in pages of about `size`, each page with the index of its set."""
    for number, name in enumerate(sets):
        members = client.sscan_iter(name, count=size)
        while page := list(islice(members, size)):
            yield number, page


def newest_of(
    client: Client, sorted_set: str, limit: int, *, before: tuple[float, str] | None = None, floor: float | None = None
) -> list[tuple[str, float]]:
    """Members of a sorted set with their scores, highest score first, then last name first; scores below `floor` are
    left out.

    `before` is the score and name of the last member of the previous page; that member may be gone meanwhile, or have
    another score.
    """
    lowest = "-inf" if floor is None else floor
    if before is None:
        return list(client.zrevrangebyscore(sorted_set, "+inf", lowest, 0, limit, withscores=True))
    score, name = before
    equal = client.zcount(sorted_set, score, score)
    found = client.zrevrangebyscore(sorted_set, score, lowest, 0, limit + equal, withscores=True)
    return [(each, at) for each, at in found if (at, each) < (score, name)][:limit]


def _nodes(client: object, *, all_of_them: bool = False) -> list[redis.Redis]:
    """A redis-py client for each server that holds keys; with `all_of_them` for replicas too."""
    if not isinstance(client, RedisCluster):
        return [redis.Redis(connection_pool=cast("redis.Redis", client).connection_pool)]
    nodes: list[ClusterNode] = client.get_nodes() if all_of_them else client.get_primaries()  # type: ignore[no-untyped-call]
    return [client.get_redis_connection(node) for node in nodes]


def _embedded(server: EmbeddedServer, given: Mapping[str, object]) -> Connection:
    pool = redis.ConnectionPool(
        connection_class=EmbeddedSocket, server=server, redis_connect_func=_opened, **_options(given)
    )
    return Connection(cast("Client", raising_ours(redis.Redis)(connection_pool=pool)), server)


def check_server(client: Client, *, unsafe: bool) -> tuple[str, ...]:
    """Refuses a server that could lose work (of a cluster: any primary); returns warnings about settings that cannot be
    checked.

    The whole state of the crawl is in Redis: without an append-only file a restart loses it, and eviction loses it key
    by key. `unsafe` accepts both. If CONFIG is forbidden (managed servers), INFO is used, and a missing append-only
    file is only a warning, because such servers persist by means that INFO does not show.

    Raises ServerRefused (`unreachable` `auth` `too_old` `no_aof` `evicts`).
    """
    return tuple(chain.from_iterable(_check_node(node, unsafe=unsafe) for node in _nodes(client)))


def _check_node(client: redis.Redis, *, unsafe: bool) -> tuple[str, ...]:
    name = _server_name(client)
    try:
        info = cast("Client", client).info()
        config = _config(client)
    except (exceptions.AuthenticationError, exceptions.AuthorizationError, exceptions.NoPermissionError) as error:
        raise ServerRefused(
            "auth", f"{name} refused the login ({error}): set user and password in REDIS_URL"
        ) from error
    except exceptions.RedisError as error:
        if error.__cause__ and isinstance(error.__cause__, ServerRefused):
            raise error.__cause__ from error
        detail = (
            f"{name} does not answer ({error}): start it, or correct REDIS_URL, or unset it to use the embedded server"
        )
        raise ServerRefused("unreachable", detail) from error
    findings = [*_version(name, info), *_persistence(name, info, config), *_eviction(name, info, config)]
    for refusal in findings:
        if refusal.code not in {"doubt", *(("no_aof", "evicts") if unsafe else ())}:
            raise refusal
    return tuple(refusal.detail for refusal in findings)


def _config(client: redis.Redis) -> Mapping[str, str] | None:
    """The settings `appendonly` and `maxmemory-policy`; None if CONFIG is renamed or forbidden."""
    try:
        return cast("Client", client).config_get("appendonly") | cast("Client", client).config_get("maxmemory-policy")
    except exceptions.ResponseError:
        return None


def _version(name: str, info: Mapping[str, object]) -> Iterator[ServerRefused]:
    version = str(info.get("redis_version", ""))
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if len(numbers) < len(OLDEST_VERSION):
        yield ServerRefused(
            "doubt", f"{name} does not report its version; feedcrawl needs Redis or Valkey 6.2 or later"
        )
    elif numbers < OLDEST_VERSION:
        yield ServerRefused("too_old", f"{name} is version {version}: upgrade it to Redis or Valkey 6.2 or later")


_AOF: Mapping[object, str] = {0: "no", 1: "yes"}


def _persistence(name: str, info: Mapping[str, object], config: Mapping[str, str] | None) -> Iterator[ServerRefused]:
    known = (config or {}).get("appendonly") or _AOF.get(info.get("aof_enabled"))
    if known == "yes":
        return
    if config is None or known is None:
        detail = f"{name} hides its settings: make sure that it persists every write (an append-only file or its like)"
        yield ServerRefused("doubt", detail)
    else:
        detail = (
            f"{name} would lose the crawl's state with a restart: set `appendonly yes` (and `appendfsync everysec`)"
        )
        yield ServerRefused("no_aof", detail)


def _eviction(name: str, info: Mapping[str, object], config: Mapping[str, str] | None) -> Iterator[ServerRefused]:
    policy = (config or {}).get("maxmemory-policy") or info.get("maxmemory_policy")
    if policy is None:
        yield ServerRefused("doubt", f"{name} hides its eviction policy: make sure that it is noeviction")
    elif policy != "noeviction":
        detail = (
            f"{name} would drop the crawl's state when memory is short ({policy}): set `maxmemory-policy noeviction`"
        )
        yield ServerRefused("evicts", detail)


def _server_name(client: redis.Redis) -> str:
    """The server's name in messages, without its password."""
    known = getattr(client, "connection_pool", None)
    options: Mapping[str, object] = known.connection_kwargs if known else {}
    if path := options.get("path"):
        return f"the server at {path}"
    if "server" in options:
        return f"the embedded server in {cast('EmbeddedServer', options['server']).directory}"
    return f"the server at {options.get('host', 'localhost')}:{options.get('port', 6379)}"
