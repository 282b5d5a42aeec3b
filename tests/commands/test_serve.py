"""`scrapy serve` as a process of its own: all parts run on one embedded server, come back, and end together."""

import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import redis
from api import free_port
from scrapy_process import REPOSITORY, clean_environment

from feedcrawl.config import Config
from feedcrawl.console.operations.serve import parts_of


def wait(condition: Callable[[], bool], process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + 90
    while not condition():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz").status_code == 200
    except httpx.TransportError:
        return False


def children(pid: int) -> dict[int, str]:
    """The parts of a supervisor, by process id."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    return {int(each): words for each, parent, words in rows if int(parent) == pid and " feedcrawl " in words}


def settings(**given: object) -> Config:
    return Config.from_settings({f"FEEDCRAWL_{name}": value for name, value in given.items()})


@pytest.mark.parametrize(
    ("given", "workers", "api", "expected"),
    [
        ({}, 1, True, ["worker 1", "API"]),
        ({"KAFKA_BOOTSTRAP": "broker:9092"}, 2, False, ["worker 1", "worker 2", "relay"]),
        ({"SEARCH_URL": "http://search:9200"}, 1, False, ["worker 1", "index"]),
        ({"SEARCH_URL": "http://search:9200", "SEARCH": "off"}, 1, False, ["worker 1"]),
        ({"WEBHOOK_URLS": "https://a.test/"}, 1, True, ["worker 1", "API", "webhooks"]),
    ],
)
def test_the_parts_follow_the_settings(given: dict[str, str], workers: int, expected: list[str], *, api: bool) -> None:
    assert [part.name for part in parts_of(settings(**given), workers, api=api)] == expected


def test_each_worker_has_a_port_for_its_metrics() -> None:
    parts = parts_of(settings(METRICS_PORT="9151"), 3, api=False)
    assert [part.settings for part in parts] == [(f"FEEDCRAWL_METRICS_PORT={port}",) for port in (9151, 9152, 9153)]
    assert {part.settings for part in parts_of(settings(), 2, api=False)} == {("FEEDCRAWL_METRICS_PORT=0",)}


def test_each_part_gets_the_settings_of_the_command_line() -> None:
    worker, api = parts_of(settings(METRICS_PORT="9151"), 1, api=True, given=("FEEDCRAWL_LOG_LEVEL=INFO",))
    crawl = ["crawl", "feeds", "-a", "forever=1", "-s", "FEEDCRAWL_LOG_LEVEL=INFO", "-s", "FEEDCRAWL_METRICS_PORT=9151"]
    assert worker.arguments == crawl
    assert api.arguments == ["api", "-s", "FEEDCRAWL_LOG_LEVEL=INFO"]


@pytest.mark.slow
def test_parts_come_back_and_end_together(tmp_path: Path) -> None:
    port = free_port()
    own = {"FEEDCRAWL_DATA_DIR": str(tmp_path / "data"), "FEEDCRAWL_API_PORT": str(port)}
    own |= {"FEEDCRAWL_PARSER_PROCESSES": "1", "FEEDCRAWL_DRAIN_SEC": "5"}
    url, log = f"http://127.0.0.1:{port}", tmp_path / "log"
    words = [sys.executable, "-m", "feedcrawl", "serve"]
    with (
        log.open("wb") as out,
        subprocess.Popen(words, cwd=REPOSITORY, env=clean_environment() | own, stdout=out, stderr=out) as process,
    ):
        try:
            wait(lambda: answers(url), process, log)
            path = re.search(r"redis-cli -s (\S+)", log.read_text())
            assert path
            with redis.Redis(unix_socket_path=path[1]) as client:
                assert client.ping()
            before = children(process.pid)
            assert sorted(words.endswith(" api") for words in before.values()) == [False, True]
            (api,) = [pid for pid, words in before.items() if words.endswith(" api")]
            subprocess.run(["kill", "-9", str(api)], check=True)
            wait(lambda: api not in children(process.pid) and answers(url), process, log)
            assert "API ended with status -9; it is started again in 1 s" in log.read_text()
            after = children(process.pid)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert not {pid for pid in {*before, *after} if children_of_system(pid)}
    assert not Path(path[1]).exists()
    assert "Traceback" not in log.read_text()


def children_of_system(pid: int) -> bool:
    """Whether a process lives."""
    return subprocess.run(["ps", "-p", str(pid)], capture_output=True, check=False).returncode == 0


def test_a_part_that_refuses_its_settings_ends_all(tmp_path: Path) -> None:
    own = {"FEEDCRAWL_DATA_DIR": str(tmp_path / "data")}
    missing = tmp_path / "missing.yaml"
    words = [sys.executable, "-m", "scrapy", "serve", "--no-api", "-s", f"FEEDCRAWL_SOURCES={missing}"]
    ran = subprocess.run(
        words, cwd=REPOSITORY, env=clean_environment() | own, capture_output=True, text=True, timeout=90, check=False
    )
    assert ran.returncode == 2, ran.stderr
    assert "worker 1 cannot start with these settings" in ran.stderr
    assert str(missing) in ran.stderr


def test_a_taken_port_is_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        own = {"FEEDCRAWL_DATA_DIR": str(tmp_path / "data"), "FEEDCRAWL_API_PORT": str(port)}
        ran = subprocess.run(
            [sys.executable, "-m", "feedcrawl", "api"],
            cwd=REPOSITORY, env=clean_environment() | own, capture_output=True, text=True, timeout=90, check=False,
        )  # fmt: skip
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].startswith(f"feedcrawl api: nothing can be served at 127.0.0.1 port {port}: ")
    assert "Traceback" not in ran.stderr


def test_the_address_of_the_server_is_printed_for_other_programs(tmp_path: Path) -> None:
    own = {"FEEDCRAWL_DATA_DIR": str(tmp_path / "data")}
    words = [sys.executable, "-m", "feedcrawl", "redis"]
    ran = subprocess.run(
        words, cwd=REPOSITORY, env=clean_environment() | own, capture_output=True, text=True, timeout=90, check=False
    )
    assert (ran.returncode, ran.stdout.split()[:2]) == (0, ["redis-cli", "-s"])
    assert "`feedcrawl redis --keep` keeps it running" in ran.stderr
