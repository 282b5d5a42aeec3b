import logging
import subprocess
import time
from contextlib import ExitStack, contextmanager

import pytest
import redis
from ports import free_port
from redis import exceptions
from redis.connection import Encoder, PythonRespSerializer

from feedcrawl.store.redis import connection as module
from feedcrawl.store.redis.connection import check_server, connect, get_each, in_order, is_cluster, newest_of
from feedcrawl.store.redis.embedded import binary
from feedcrawl.store.redis.errors import ServerRefused, StoreUnavailable

SOUND = ("--appendonly", "yes", "--maxmemory-policy", "noeviction")


@contextmanager
def running(directory, *options):
    path = directory / "s"
    command = [binary(), "--port", "0", "--unixsocket", str(path), "--dir", str(directory), *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 10
            while not path.exists():
                assert time.monotonic() < deadline
                time.sleep(0.01)
            yield f"unix://{path}"
        finally:
            process.kill()


@pytest.fixture
def server(tmp_path):
    with ExitStack() as stack:
        yield lambda *options: stack.enter_context(running(tmp_path, *options))


def open_(url, tmp_path, **more):
    return connect(url=url, data_dir=tmp_path / "data", **more)


def test_a_configured_server_is_used_and_none_is_started(server, tmp_path):
    with open_(server(*SOUND), tmp_path) as connection:
        assert not connection.embedded
        assert connection.client.ping()
        assert connection.warnings == ()
        connection.client.set("bytes", b"\xff\xfe")
        assert connection.client.get("bytes") == "\udcff\udcfe"
        connection.client.set("again", connection.client.get("bytes"))
        assert connection.client.strlen("again") == 2
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    "parameters",
    [
        {"unix_socket_path": "{path}"},
        {"url": "unix://{path}"},
        {"unix_socket_path": "{path}", "redis_cls": "redis.Redis"},
    ],
)
def test_a_server_is_named_by_scrapy_redis_parameters_too(server, tmp_path, parameters):
    path = server(*SOUND).removeprefix("unix://")
    given = {name: value.format(path=path) for name, value in parameters.items()}
    with open_(None, tmp_path, parameters=given) as connection:
        assert not connection.embedded


def test_every_command_has_a_timeout(server, tmp_path):
    url = server(*SOUND)
    given = {"socket_timeout": None, "decode_responses": False, "retry_on_timeout": True, "encoding": "latin-1"}
    with open_(url, tmp_path, parameters=given) as connection:
        options = connection.client.connection_pool.connection_kwargs
        assert (options["socket_timeout"], options["socket_connect_timeout"]) == (5.0, 5.0)
        assert (options["decode_responses"], options["encoding_errors"]) == (True, "surrogateescape")
        assert options["health_check_interval"] == 30
    with open_(url, tmp_path, parameters={"socket_timeout": 0.2}) as connection:
        with pytest.raises(StoreUnavailable) as unavailable:
            connection.client.blpop("nothing", timeout=0)
        assert unavailable.value.code == "timeout"


COMMANDS = [
    ("SET", "key", "text"),
    ("XADD", "events", "*", "title", "Überschrift", "size", 3, "at", 1.5),
    ("CONFIG GET", "maxmemory"),
    ("SET", "page", b"\xff\x00", "note", "\udcff"),
    ("ZADD", "set", float("inf"), "x" * 20_000, 1e20, ""),
]


@pytest.mark.parametrize("words", COMMANDS)
def test_commands_are_encoded_as_by_redis_py(words):
    encode = Encoder("utf-8", "surrogateescape", decode_responses=True).encode
    expected = b"".join(PythonRespSerializer(6000, encode).pack(*words))
    assert b"".join(module._Packer(encode).pack(*words)) == expected


def test_a_value_that_is_no_text_and_no_number_is_refused(tmp_path):
    with open_(None, tmp_path) as connection:
        for value in (None, True, ["a"]):
            with pytest.raises(exceptions.DataError):
                connection.client.set("key", value)


def test_the_reply_of_a_command_that_failed_is_not_taken_for_that_of_the_next(server, tmp_path):
    with open_(server(*SOUND), tmp_path, parameters={"socket_timeout": 0.2}) as connection:
        with pytest.raises(StoreUnavailable, match="timeout"):
            connection.client.execute_command("BLPOP", "empty", 1)
        assert connection.client.rpush("list", "value") == 1
        assert connection.client.llen("list") == 1


def test_a_connection_that_the_server_closed_is_opened_again(server, tmp_path):
    with open_(server(*SOUND), tmp_path) as connection:
        closed = connection.client.client_id()
        with open_(f"unix://{tmp_path / 's'}", tmp_path) as other:
            assert other.client.client_kill_filter(_id=closed) == 1
        assert connection.client.client_id() > closed


def test_other_parameters_reach_the_embedded_server(tmp_path):
    with open_(None, tmp_path, parameters={"db": 3}) as connection:
        connection.client.set("here", 1)
        assert connection.client.info("keyspace").keys() == {"db3"}


UNSAFE = [
    (("--appendonly", "no"), "no_aof", "appendonly yes"),
    (("--appendonly", "yes", "--maxmemory-policy", "allkeys-lru"), "evicts", "maxmemory-policy noeviction"),
    (("--appendonly", "yes", "--maxmemory-policy", "volatile-ttl"), "evicts", "maxmemory-policy noeviction"),
]


@pytest.mark.parametrize(("options", "code", "change"), UNSAFE)
def test_a_server_that_loses_data_is_refused_unless_allowed(server, tmp_path, options, code, change):
    url = server(*options)
    with pytest.raises(ServerRefused, match=change) as refused:
        open_(url, tmp_path)
    assert refused.value.code == code
    assert "\n" not in refused.value.detail
    with open_(url, tmp_path, unsafe=True) as connection:
        assert [change in warning for warning in connection.warnings] == [True]


def test_an_old_server_is_refused_even_when_unsafe(server, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "OLDEST_VERSION", (99, 0))
    with pytest.raises(ServerRefused, match="upgrade") as refused:
        open_(server(*SOUND), tmp_path, unsafe=True)
    assert refused.value.code == "too_old"


@pytest.mark.parametrize(
    ("version", "codes"),
    [("6.0.16", ["too_old"]), ("2.8", ["too_old"]), ("6.2.0", []), ("7.2.4", []), ("10.0.1", []), ("", ["doubt"])],
)
def test_versions(version, codes):
    assert [found.code for found in module._version("it", {"redis_version": version})] == codes


def test_a_managed_server_is_judged_by_the_settings_that_it_shows(server, tmp_path, caplog):
    url = server("--appendonly", "no", "--rename-command", "CONFIG", "")
    with caplog.at_level(logging.WARNING), open_(url, tmp_path) as connection:
        assert ["hides its settings" in warning for warning in connection.warnings] == [True]
    assert "hides its settings" in caplog.text


def test_a_managed_server_with_an_append_only_file_is_accepted(server, tmp_path):
    with open_(server(*SOUND, "--rename-command", "CONFIG", ""), tmp_path) as connection:
        assert connection.warnings == ()


def test_a_managed_server_that_evicts_is_refused(server, tmp_path):
    with pytest.raises(ServerRefused, match="evicts"):
        open_(server("--maxmemory-policy", "allkeys-lfu", "--rename-command", "CONFIG", ""), tmp_path)


def test_a_user_without_config_is_let_in(server, tmp_path):
    url = server(*SOUND)
    with redis.Redis.from_url(url) as admin:
        admin.execute_command("ACL", "SETUSER", "crawler", "on", ">secret", "~*", "+@all", "-config")
    with open_(url.replace("unix://", "unix://crawler:secret@"), tmp_path) as connection:
        assert connection.warnings == ()


def test_a_wrong_password_is_refused_and_not_shown(server, tmp_path):
    url = server(*SOUND, "--requirepass", "right")
    for wrong in (url, url.replace("unix://", "unix://:not-this@")):
        with pytest.raises(ServerRefused) as refused:
            open_(wrong, tmp_path)
        assert refused.value.code == "auth"
        assert "not-this" not in str(refused.value)


@pytest.mark.parametrize("url", ["unix:///nowhere/at/all", "redis://:hidden@127.0.0.1:1/0"])
def test_an_unreachable_server_is_refused(tmp_path, url):
    with pytest.raises(ServerRefused, match="REDIS_URL") as refused:
        open_(url, tmp_path)
    assert refused.value.code == "unreachable"
    assert "hidden" not in str(refused.value)


def test_a_refused_server_is_left_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "OLDEST_VERSION", (99, 0))
    with pytest.raises(ServerRefused, match="embedded server"):
        open_(None, tmp_path)
    assert not (tmp_path / "data" / "redis" / "valkey.sock").exists()


def test_check_server_takes_any_client(server):
    with redis.Redis.from_url(server(*SOUND)) as client:
        assert check_server(client, unsafe=False) == ()


def test_a_full_server_is_unavailable(server, tmp_path):
    with open_(server(*SOUND, "--maxmemory", "1mb"), tmp_path) as connection:
        calls = (
            lambda: connection.client.set("much", "x" * 10_000_000),
            lambda: connection.client.eval("return redis.call('SET', KEYS[1], 'x')", 1, "key"),
            lambda: connection.client.pipeline().set("a", "1").execute(),
        )
        connection.client.config_set("maxmemory", "1")
        for call in calls:
            with pytest.raises(StoreUnavailable) as unavailable:
                call()
            assert unavailable.value.code == "out_of_memory"
            assert isinstance(unavailable.value.__cause__, exceptions.RedisError)


def test_a_replica_is_unavailable(server, tmp_path):
    with open_(server(*SOUND), tmp_path) as connection:
        connection.client.replicaof("127.0.0.1", 1)
        with pytest.raises(StoreUnavailable) as unavailable:
            connection.client.set("key", "value")
        assert unavailable.value.code == "read_only"


# --- a Redis Cluster ---


def test_a_single_node_leads_to_the_whole_cluster(redis_cluster, tmp_path):
    redis_cluster.flush()
    with open_(redis_cluster.nodes[2].url, tmp_path) as connection:
        client = connection.client
        assert is_cluster(client)
        names = [f"key-{number}" for number in range(12)]
        assert len({redis_cluster.node_of(name).port for name in names}) == 3
        for name in names[:-1]:
            client.set(name, name)
        assert get_each(client, names) == [*names[:-1], None]
        assert get_each(client, []) == []


def test_each_primary_is_checked(redis_cluster, tmp_path):
    odd = redis_cluster.nodes[1]
    odd.command("CONFIG SET", "maxmemory-policy", "allkeys-lru")
    try:
        with pytest.raises(ServerRefused, match=str(odd.port)) as refused:
            open_(redis_cluster.url, tmp_path)
    finally:
        odd.command("CONFIG SET", "maxmemory-policy", "noeviction")
    assert refused.value.code == "evicts"


def test_a_node_that_belongs_to_no_whole_cluster_is_refused(server, tmp_path):
    port, bus = free_port(), free_port()
    server(*SOUND, "--cluster-enabled", "yes", "--port", str(port), "--cluster-port", str(bus))
    with pytest.raises(ServerRefused, match="CLUSTER INFO") as refused:
        open_(f"redis://127.0.0.1:{port}", tmp_path)
    assert refused.value.code == "cluster"


def test_a_pipeline_keeps_its_order_where_required(redis_cluster, server, tmp_path):
    with open_(redis_cluster.url, tmp_path) as cluster, open_(server(*SOUND), tmp_path) as single:
        for client, sent in ((single.client, None), (cluster.client, "1")):
            client.delete("first")
            with client.pipeline(transaction=False) as pipe:
                pipe.set("first", 1)
                in_order(pipe)
                assert client.get("first") == sent
                pipe.get("first")
                assert pipe.execute()[-1] == "1"


def test_a_restarting_node_is_unavailable_until_it_is_back(redis_cluster, tmp_path):
    node = redis_cluster.node_of("a")
    with open_(redis_cluster.url, tmp_path) as connection:
        script = connection.client.register_script("return redis.call('INCR', KEYS[1])")
        connection.client.delete("a")
        assert script(keys=["a"]) == 1
        node.kill()
        with pytest.raises(StoreUnavailable) as away:
            script(keys=["a"])
        assert away.value.code in ("unreachable", "cluster")
        node.start()
        redis_cluster.wait_whole()
        assert script(keys=["a"]) == 2  # and the script was loaded anew


def test_the_newest_of_a_sorted_set_after_a_place(redis_client: redis.Redis) -> None:
    redis_client.zadd("set", {"a": 1.5, "b": 2.25, "c": 2.25, "d": 1795825985.144})
    assert newest_of(redis_client, "set", 9) == [("d", 1795825985.144), ("c", 2.25), ("b", 2.25), ("a", 1.5)]
    assert newest_of(redis_client, "set", 2) == [("d", 1795825985.144), ("c", 2.25)]
    assert newest_of(redis_client, "set", 2, before=(1795825985.144, "d")) == [("c", 2.25), ("b", 2.25)]
    assert newest_of(redis_client, "set", 1, before=(2.25, "c")) == [("b", 2.25)]
    assert newest_of(redis_client, "set", 9, before=(2.25, "bb")) == [("b", 2.25), ("a", 1.5)]  # it has left
    assert newest_of(redis_client, "set", 9, before=(2.0, "x"), floor=1.6) == []
    assert newest_of(redis_client, "none", 9, before=(2.0, "x")) == []
