import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from feedcrawl.store.redis import embedded
from feedcrawl.store.redis.connection import connect
from feedcrawl.store.redis.errors import ServerRefused, StoreUnavailable

# Another process on the data directory: it says its server's id, waits for a line, and leaves.
NEIGHBOUR = """
import sys
from pathlib import Path
from feedcrawl.store.redis.connection import connect
with connect(url=None, data_dir=Path(sys.argv[1])) as connection:
    print(connection.client.info("server")["process_id"], flush=True)
    sys.stdin.readline()
"""


@contextmanager
def neighbour(data_dir):
    command = [sys.executable, "-c", NEIGHBOUR, str(data_dir)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            leave(process)


def pid_of(process):
    return int(process.stdout.readline())


def leave(process):
    if process.poll() is None:
        process.communicate("", timeout=60)
    assert process.returncode in {0, -signal.SIGKILL}


def server_pid(connection):
    return int(connection.client.info("server")["process_id"])


def ended(pid):
    """Its files are closed: it is reaped, or a zombie whose threads have all gone."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        return state == "Z" and len([*Path(f"/proc/{pid}/task").iterdir()]) == 1
    except (FileNotFoundError, ProcessLookupError):
        return True


def gone(pid, within_sec=10.0):
    deadline = time.monotonic() + within_sec
    while not ended(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def start(data_dir):
    return connect(url=None, data_dir=data_dir)


def test_the_server_is_private_durable_and_without_a_port(tmp_path):
    with start(tmp_path) as connection:
        assert connection.embedded
        assert connection.warnings == ()
        config = connection.client.config_get("*")
        assert (tmp_path / "redis" / embedded.SOCKET).stat().st_mode & 0o777 == 0o700
        assert (tmp_path / "redis").stat().st_mode & 0o777 == 0o700
        pid = server_pid(connection)
        assert os.getsid(pid) == pid
    expected = {
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory-policy": "noeviction",
        "port": "0",
        "save": "",
    }
    assert {name: config[name] for name in expected} == expected
    assert gone(pid)
    assert not (tmp_path / "redis" / embedded.SOCKET).exists()


@pytest.mark.parametrize(
    ("ours", "expected"), [(None, "glibc.malloc.tcache_count=1024"), ("glibc.malloc.check=0", "glibc.malloc.check=0")]
)
def test_the_allocator_keeps_freed_memory_unless_the_operator_configures_it(tmp_path, monkeypatch, ours, expected):
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    if ours is not None:
        monkeypatch.setenv("GLIBC_TUNABLES", ours)
    with connect(url=None, data_dir=tmp_path) as connection:
        given = Path(f"/proc/{server_pid(connection)}/environ").read_bytes().split(b"\0")
    assert f"GLIBC_TUNABLES={expected}".encode() in given


def test_written_keys_survive_a_restart(tmp_path):
    with start(tmp_path) as connection:
        connection.client.set("kept", "caf\udce9")
    with start(tmp_path) as connection:
        assert connection.client.get("kept") == "caf\udce9"


def test_connections_of_a_process_share_a_server_and_the_last_stops_it(tmp_path):
    first, second = start(tmp_path), start(tmp_path)
    pid = server_pid(first)
    assert server_pid(second) == pid
    first.close()
    first.close()
    assert second.client.ping()
    second.close()
    assert gone(pid)


def test_a_relative_path_is_the_same_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with start(tmp_path / "data") as first, start(Path("data")) as other:
        assert server_pid(first) == server_pid(other)


def test_processes_share_a_server_and_the_last_stops_it(tmp_path):
    with neighbour(tmp_path) as first:
        pid = pid_of(first)
        with start(tmp_path) as connection:
            assert server_pid(connection) == pid
            leave(first)
            assert server_pid(connection) == pid
        assert gone(pid)


def test_processes_that_start_at_once_find_the_same_server(tmp_path):
    with neighbour(tmp_path) as first, neighbour(tmp_path) as second, start(tmp_path) as connection:
        assert {pid_of(first), pid_of(second)} == {server_pid(connection)}


def test_threads_that_start_at_once_find_the_same_server(tmp_path):
    found, connections = [], []

    def work():
        connections.append(start(tmp_path))
        found.append(server_pid(connections[-1]))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for connection in connections:
        connection.close()
    assert len(set(found)) == 1
    assert gone(found[0])


def test_an_orphan_is_taken_over_and_stopped(tmp_path):
    with neighbour(tmp_path) as first:
        pid = pid_of(first)
        first.kill()
    assert not gone(pid, within_sec=0.2)
    with start(tmp_path) as connection:
        assert server_pid(connection) == pid
    assert gone(pid)


def test_a_killed_server_is_back_with_its_data_at_the_next_command(tmp_path):
    with start(tmp_path) as connection:
        connection.client.set("kept", "1")
        for _ in range(3):
            before = server_pid(connection)
            os.kill(before, signal.SIGKILL)
            assert gone(before)
            assert connection.client.get("kept") == "1"
            assert server_pid(connection) != before


def test_all_processes_recover_on_the_same_server(tmp_path):
    with neighbour(tmp_path) as other, start(tmp_path) as connection:
        os.kill(pid_of(other), signal.SIGKILL)
        assert connection._server.ensure()
        pid = server_pid(connection)
        leave(other)
        assert server_pid(connection) == pid


def test_a_killed_server_does_not_keep_the_last_from_leaving(tmp_path):
    connection = start(tmp_path)
    pid = server_pid(connection)
    os.kill(pid, signal.SIGKILL)
    assert gone(pid)
    connection.close()


def test_a_second_server_cannot_start_even_when_the_socket_was_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded, "_SILENCE_SEC", 0.5)
    with neighbour(tmp_path) as other:
        pid = pid_of(other)
        (tmp_path / "redis" / embedded.SOCKET).unlink()
        with pytest.raises(ServerRefused, match="did not answer") as refused:
            start(tmp_path)
        assert refused.value.code == "silent"
        os.kill(pid, signal.SIGTERM)


def test_a_hung_server_is_refused_and_not_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded, "_SILENCE_SEC", 1.2)
    with neighbour(tmp_path) as other:
        pid = pid_of(other)
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(ServerRefused, match="silent"):
            start(tmp_path)
        os.kill(pid, signal.SIGCONT)
        with start(tmp_path) as connection:
            assert server_pid(connection) == pid


@pytest.mark.parametrize("depth", [1, 5])
def test_a_deep_directory_is_reached_by_a_short_path(tmp_path, depth):
    deep = tmp_path.joinpath(*["d" * 60] * depth)
    with neighbour(deep) as other:
        pid = pid_of(other)
        with start(deep) as connection:
            assert server_pid(connection) == pid
            path = connection.client.connection_pool.connection_kwargs["server"].socket_path
            assert len(os.fsencode(path)) <= 107
            assert path.parent.parent.stat().st_mode & 0o077 == 0 or depth == 1
            if depth > 1:
                path.parent.unlink()
                os.kill(pid, signal.SIGKILL)
                assert gone(pid)
                assert connection._server.ensure()
                assert connection.client.ping()
    assert depth == 1 or not path.parent.is_symlink()


def test_a_short_path_that_others_could_turn_is_refused(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    monkeypatch.setattr(embedded, "Path", lambda _: tmp_path)
    monkeypatch.setattr(os, "getuid", lambda: "x")
    (tmp_path / "feedcrawl-x").symlink_to(shared)
    with pytest.raises(ServerRefused, match="runtime_dir"):
        embedded._short_link(tmp_path)


def aof(data_dir):
    (path,) = (data_dir / "redis" / "appendonlydir").glob("*.incr.aof")
    return path


def filled(data_dir):
    with start(data_dir) as connection:
        for number in range(200):
            connection.client.set(f"key:{number}", f"value:{number}")
    return aof(data_dir)


def test_a_torn_tail_costs_a_single_write(tmp_path):
    path = filled(tmp_path)
    os.truncate(path, path.stat().st_size - 7)
    with start(tmp_path) as connection:
        assert connection.client.dbsize() == 199


def damage(path):
    content = bytearray(path.read_bytes())
    at = content.index(b"SET", len(content) // 2) - 8
    content[at : at + 12] = b"\x00" * 12
    path.write_bytes(content)


def test_a_damaged_file_is_refused_and_repaired_as_the_refusal_describes(tmp_path):
    damage(filled(tmp_path))
    with pytest.raises(ServerRefused, match="append-only file") as refused:
        start(tmp_path)
    assert refused.value.code == "aof_damaged"
    command = refused.value.detail.split("`")[1]
    subprocess.run(
        ["bash", "-c", command], cwd=tmp_path / "redis", input=b"y\n", check=True, timeout=60, capture_output=True
    )
    with start(tmp_path) as connection:
        assert 50 < connection.client.dbsize() < 200


def test_a_damaged_base_is_refused_too(tmp_path):
    with start(tmp_path) as connection:
        connection.client.set("key", "x" * 1000)
        connection.client.bgrewriteaof()
        while connection.client.info("persistence")["aof_rewrite_in_progress"]:
            time.sleep(0.02)
    (base,) = (tmp_path / "redis" / "appendonlydir").glob("*.base.rdb")
    base.write_bytes(base.read_bytes()[:60])
    with pytest.raises(ServerRefused, match="put back a copy") as refused:
        start(tmp_path)
    assert refused.value.code == "aof_damaged"


def test_a_file_damaged_while_running_keeps_the_store_unavailable_with_its_reason(tmp_path):
    with start(tmp_path) as connection:
        for number in range(200):
            connection.client.set(f"key:{number}", "value")
        pid = server_pid(connection)
        os.kill(pid, signal.SIGKILL)
        assert gone(pid)
        damage(aof(tmp_path))
        took = []
        for _ in range(2):
            began = time.monotonic()
            with pytest.raises(StoreUnavailable) as unavailable:
                connection.client.ping()
            assert unavailable.value.code == "aof_damaged"
            took.append(time.monotonic() - began)
        assert took[1] < took[0] / 2, "the second did not wait for a server to start"


def test_a_server_that_cannot_start_is_quoted(tmp_path, monkeypatch):
    monkeypatch.setitem(embedded._OPTIONS, "maxmemory-policy", "whatever")
    with pytest.raises(ServerRefused) as refused:
        start(tmp_path)
    assert refused.value.code == "not_starting"


def test_a_directory_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ServerRefused, match="FEEDCRAWL_DATA_DIR") as refused:
        start(tmp_path / "file")
    assert refused.value.code == "data_dir"


def test_a_platform_without_a_binary_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ServerRefused, match="REDIS_URL") as refused:
        start(tmp_path)
    assert refused.value.code == "no_binary"


def test_a_log_does_not_grow_for_ever(tmp_path):
    (tmp_path / "redis").mkdir()
    log = tmp_path / "redis" / embedded.LOG
    log.write_bytes(b"x" * ((1 << 20) + 1))
    with start(tmp_path):
        assert log.stat().st_size < 1 << 20


def test_a_forked_child_leaves_the_server_to_its_parent(tmp_path):
    script = """
import os, sys
from pathlib import Path
from feedcrawl.store.redis.connection import connect
connection = connect(url=None, data_dir=Path(sys.argv[1]))
if os.fork() == 0:
    sys.exit()
os.wait()
print(connection.client.info("server")["process_id"], flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert gone(int(done.stdout))


def test_when_writes_are_on_the_disk_is_the_operators_choice(tmp_path):
    def policy(connection):
        return connection.client.config_get("appendfsync")["appendfsync"]

    with connect(url=None, data_dir=tmp_path, fsync="always") as connection:
        assert policy(connection) == "always"
        pid = server_pid(connection)
        os.kill(pid, signal.SIGKILL)
        assert gone(pid)
        assert policy(connection) == "always"
        with neighbour(tmp_path) as process:  # with the default
            pid_of(process)
            assert policy(connection) == "everysec"
