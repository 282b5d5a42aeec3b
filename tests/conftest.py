"""How the tests run (in parallel, the slow ones on request) and the fixtures of all: a local web, a Redis, Scrapy's
command line, and a guard that keeps tests on loopback.
"""

from __future__ import annotations

import functools
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import redis

sys.path.insert(0, str(Path(__file__).parent / "site"))

from loopback import Guard
from origin import Origin, OriginServer
from redis_cluster import Cluster, running_cluster
from redis_process import running_redis
from scrapy_process import Run, run_scrapy

from feedcrawl.store.redis.connection import connect

ON_CLUSTER = bool(os.environ.get("TEST_ON_CLUSTER"))
if ON_CLUSTER:  # KEYS asks one node alone
    _keys = redis.RedisCluster.keys
    redis.RedisCluster.keys = functools.partialmethod(_keys, target_nodes=redis.RedisCluster.PRIMARIES)

PROCESSES_PER_CORE = 2  # a crawl mostly waits
WHOLE_CRAWLS = Path(__file__).parent / "whole_crawls"
SHORT = {"deadline": None, "max_examples": 25}
LONG = {"deadline": None}
REPRODUCIBLE: dict[str, Any] = {"derandomize": True, "database": None, "print_blob": True}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too, and properties at full length")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """The whole suite runs in several processes, named paths in this one; `-n` decides otherwise."""
    options = config.option
    if hasattr(config, "workerinput") or not hasattr(options, "numprocesses"):
        return
    if options.numprocesses is None and not options.usepdb and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        options.numprocesses = PROCESSES_PER_CORE * (os.cpu_count() or 1)
    if options.numprocesses and options.dist == "no":
        options.dist, options.loadscopereorder = "loadfile", False
        # All processes have to collect the same tests in the same order, those made from a set too.
        os.environ.setdefault("PYTHONHASHSEED", str(random.randrange(1 << 32)))


def pytest_configure(config: pytest.Config) -> None:
    profile = (LONG if config.option.slow else SHORT) | (REPRODUCIBLE if os.environ.get("CI") else {})
    hypothesis.settings.register_profile("feedcrawl", **profile)
    hypothesis.settings.load_profile("feedcrawl")


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """A name for bytes: what they are may differ from process to process (gzip writes the time)."""
    return argname if isinstance(val, bytes) and not val.isascii() else None


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Leaves slow tests out unless they are named; the tests of a file run in one process.

    Whole crawls come first: a long one that starts last would have the other processes wait for it.
    """
    for item in items:
        if item.get_closest_marker("chromium"):
            item.add_marker("slow")
    if not config.option.slow and not any("::" in argument for argument in config.args):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
    yield
    items.sort(key=lambda item: item.path.parent != WHOLE_CRAWLS)


@pytest.fixture(scope="session")
def socket_guard() -> Iterator[Guard]:
    with pytest.MonkeyPatch.context() as patch:
        guard = Guard()
        guard.install(patch)
        yield guard


@pytest.fixture(autouse=True)
def loopback_only(socket_guard: Guard) -> Iterator[None]:
    """Fails a test that tried another address even where the error was swallowed on its way."""
    socket_guard.refused.clear()
    yield
    if socket_guard.refused:
        pytest.fail(f"tried to leave this machine: {', '.join(socket_guard.refused)}")


@pytest.fixture(scope="session")
def origin_server() -> Iterator[OriginServer]:
    server = OriginServer()
    yield server
    server.close()


@pytest.fixture
def origin(origin_server: OriginServer) -> Origin:
    """Sites and a ledger of the test's own."""
    return origin_server.fresh()


@pytest.fixture
def hosts_file(origin: Origin, tmp_path: Path) -> Path:
    """A hosts(5) file with the origin's sites, those named later too; for FEEDCRAWL_HOSTS_FILE."""
    origin.hosts_file = tmp_path / "hosts"
    origin.write_hosts()
    return origin.hosts_file


@pytest.fixture(scope="session")
def redis_server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a server for this session, with an append-only file and without eviction.

    With TEST_ON_CLUSTER=1 in the environment it is a cluster's, and `redis_client` a client on it: whatever then
    fails with `CROSSSLOT` or the like does not work there.
    """
    if ON_CLUSTER:
        yield request.getfixturevalue("redis_cluster").url
        return
    with running_redis() as url:
        yield url


@pytest.fixture(scope="session")
def redis_cluster() -> Iterator[Cluster]:
    """Three nodes for this session, with append-only files and without eviction."""
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def redis_client(redis_server: str) -> Iterator[redis.Redis]:
    """The product's client on an empty server; bytes that are no UTF-8 come back as they went."""
    with connect(url=redis_server, data_dir=Path()) as connection:
        connection.client.flushall()
        yield connection.client


@pytest.fixture
def scrapy_run(tmp_path: Path) -> Callable[..., Run]:
    """`scrapy_run("crawl", "feeds", env={…}, timeout_sec=60)`; its data directory is `tmp_path / "data"`."""
    return functools.partial(run_scrapy, data_dir=tmp_path / "data")
