"""What keeps a crawl from going on, found on a real server and a real disk."""

import os
import resource
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis_process import running_redis

from feedcrawl.services.operations import readiness as readiness_module
from feedcrawl.services.operations.readiness import Readiness
from feedcrawl.store.disk.files import DiskUnavailable, free_bytes
from feedcrawl.store.disk.ndjson import NdjsonFile
from feedcrawl.store.redis.generation import Generation
from feedcrawl.store.redis.raising import raising_ours

DAY = date(2026, 11, 28)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running_redis() as url:
        yield url


@pytest.fixture
def client(url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(url, decode_responses=True) as client:
        client.flushall()
        client.config_set("appendonly", "yes")
        client.config_set("maxmemory-policy", "noeviction")
        yield client


@pytest.fixture
def ready(client: redis.Redis, tmp_path: Path) -> Readiness:
    readiness = Readiness(client, Generation(client, tmp_path), tmp_path, unsafe=False)
    readiness.check()
    assert readiness.trouble is None
    return readiness


def code(readiness: Readiness) -> str | None:
    return readiness.trouble.code if readiness.trouble else None


def test_an_unsafe_server_is_noticed_until_it_is_safe(ready: Readiness, client: redis.Redis) -> None:
    found = []
    for setting, value in (
        ("maxmemory-policy", "allkeys-lru"),
        ("appendonly", "no"),
        ("maxmemory-policy", "noeviction"),
        ("appendonly", "yes"),
    ):
        client.config_set(setting, value)
        ready.check()
        found.append(code(ready))
    assert found == ["evicts", "no_aof", "no_aof", None]


def test_whoever_takes_an_unsafe_server_is_not_paused(client: redis.Redis, tmp_path: Path) -> None:
    client.config_set("maxmemory-policy", "allkeys-lru")
    readiness = Readiness(client, Generation(client, tmp_path), tmp_path, unsafe=True)
    readiness.check()
    assert readiness.trouble is None


def test_an_emptied_server_is_noticed_by_either_look(ready: Readiness, client: redis.Redis) -> None:
    assert ready.same_server()
    client.flushall()
    assert not ready.same_server()
    assert code(ready) == "emptied"
    ready.check()
    assert code(ready) == "emptied"
    assert client.keys("*") == []


def test_an_unreachable_server_does_not_change_the_finding(ready: Readiness, client: redis.Redis) -> None:
    client.config_set("maxmemory-policy", "allkeys-lru")
    ready.check()
    nowhere = raising_ours(redis.Redis)(unix_socket_path="/nowhere", retry=Retry(NoBackoff(), 0))
    ready._client = ready._generation._client = nowhere
    ready.check()
    assert code(ready) == "evicts"  # what was found stays until something else is
    ready._server = None
    ready.check()
    assert code(ready) is None
    assert not ready.same_server()


@pytest.mark.parametrize(
    ("reason", "pauses"),
    [("disk_full", True), ("file_too_large", True), ("io_error", True), ("symlink_refused", False)],
)
def test_faults_of_the_disk_pause_the_crawl(ready: Readiness, tmp_path: Path, reason: str, pauses: bool) -> None:
    ready.note(DiskUnavailable(tmp_path / "entries" / "x", reason))
    assert (code(ready) == reason) is pauses
    ready.note(ValueError("another matter"))
    ready.note(None)
    assert (code(ready) == reason) is pauses


@pytest.mark.parametrize("place", ["entries/2026-11-28.ndjson", "raw/2026-11-28/x.warc.gz", "generation"])
def test_a_disk_is_tested_at_the_folder_that_failed(
    ready: Readiness, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    whole = os.open

    def note(path: Any, flags: int, *how: Any, **more: Any) -> int:
        tried.append(str(path))
        return whole(path, flags, *how, **more)

    monkeypatch.setattr(os, "open", note)
    ready.note(DiskUnavailable(tmp_path / place, "disk_full"))
    ready.check()
    assert ready.trouble is None
    assert Path(tried[-1]).parent == (tmp_path / place.partition("/")[0] if "/" in place else tmp_path)
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_full_disk_pauses_until_a_fetch_fits(
    ready: Readiness, tmp_path: Path, file_limit: Callable[[int], None]
) -> None:
    """A limit of the process stands for the disk's: the same calls fail, and what they had begun is taken back."""
    file_limit(300_000)
    lines = NdjsonFile(tmp_path / "entries")
    with pytest.raises(DiskUnavailable) as failed:
        lines.append(DAY, {"text": "x" * 400_000})
    assert (tmp_path / "entries" / "2026-11-28.ndjson").stat().st_size == 0
    ready.note(DiskUnavailable(failed.value.path, "disk_full"))
    ready.check()
    assert ready.trouble is not None
    file_limit(resource.RLIM_INFINITY)
    ready.check()
    assert ready.trouble is None


def test_a_disk_that_is_nearly_full_pauses_until_it_has_room(
    client: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "raw").mkdir()  # a disk of its own
    room = {tmp_path: 2 << 30, tmp_path / "raw": 2 << 30}
    monkeypatch.setattr(readiness_module, "free_bytes", lambda folder: room[folder if folder in room else tmp_path])
    readiness = Readiness(client, Generation(client, tmp_path), tmp_path, unsafe=False, min_free_bytes=1 << 30)
    found = []
    for folder, free in ((tmp_path, 1 << 30), (tmp_path / "raw", (1 << 30) - 1), (tmp_path / "raw", 1 << 30)):
        room[folder] = free
        readiness.check()
        found.append(readiness.trouble and readiness.trouble.detail)
    assert found == [None, f"{tmp_path / 'raw'}: 1023 MiB free, FEEDCRAWL_MIN_FREE_BYTES is 1024 MiB", None]


def test_the_room_of_a_missing_folder_is_that_of_its_parent(tmp_path: Path) -> None:
    assert abs(free_bytes(tmp_path / "a" / "b") - free_bytes(tmp_path)) < 1 << 30


def test_a_file_at_its_size_limit_stays_refused_though_another_may_grow(
    ready: Readiness, tmp_path: Path, file_limit: Callable[[int], None]
) -> None:
    lines = NdjsonFile(tmp_path / "entries")
    lines.append(DAY, {"text": "x" * 400_000})
    file_limit((1 << 20) + 300_000)  # room for a probe alone
    with pytest.raises(DiskUnavailable) as failed:
        lines.append(DAY, {"text": "x" * 1_000_000})
    ready.note(failed.value)
    ready.check()
    assert code(ready) == "file_too_large"
    file_limit((1 << 20) + 500_000)
    ready.check()
    assert ready.trouble is None


@pytest.fixture
def file_limit() -> Iterator[Callable[[int], None]]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_too_many_open_files_pass_too(ready: Readiness, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lines = NdjsonFile(tmp_path / "entries")
    lines.append(DAY, {"text": "before"})
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))  # what is open stays open
        with pytest.raises(DiskUnavailable) as failed:
            lines.append(DAY, {"text": "x"})
        ready.note(failed.value)
        ready._check_disk()
        assert code(ready) == "too_many_files"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    ready.check()
    assert ready.trouble is None
