"""Files that are written anew: whole or not at all, and nothing left of what a kill tore."""

import errno
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from feedcrawl.store.disk.files import DiskUnavailable, probe, sweep, write_anew, write_beneath


def test_a_file_is_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_anew(path, [b"a" * 100_000, b"b"])
    assert path.read_bytes() == b"a" * 100_000 + b"b"
    assert path.stat().st_mode & 0o007 == 0
    write_anew(path, [b"c"])
    assert path.read_bytes() == b"c"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_disk_error_leaves_the_file_unchanged(tmp_path: Path, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_anew(path, [b"before"])

    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    for attempt in (lambda: write_anew(path, [b"after"]), lambda: probe(tmp_path)):
        with pytest.raises(DiskUnavailable) as failed:
            attempt()
        assert failed.value.code == "disk_full"
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_of_the_content_leaves_no_file(tmp_path: Path) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise KeyError("x")

    with pytest.raises(KeyError):
        write_anew(tmp_path / "file", chunks())
    assert list(tmp_path.iterdir()) == []


def test_a_kill_leaves_the_file_unchanged_and_its_remains_are_swept_after_an_hour(tmp_path: Path) -> None:
    write_anew(tmp_path / "file", [b"before"])
    code = """
import os, signal, sys
from pathlib import Path
from feedcrawl.store.disk.files import write_anew

def chunks():
    yield b"half"
    os.kill(os.getpid(), signal.SIGKILL)

write_anew(Path(sys.argv[1]) / "file", chunks())
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False, timeout=30)
    assert (tmp_path / "file").read_bytes() == b"before"
    (left,) = tmp_path.glob("*.tmp")
    now = left.stat().st_mtime
    assert sweep(tmp_path, now + 3599) == 0
    assert sweep(tmp_path, now + 3601) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_only_our_temporary_files_are_swept(tmp_path: Path) -> None:
    (tmp_path / "entries").mkdir()
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    remaining = [tmp_path / "mine.txt", tmp_path / "entries" / "2026-11-28.ndjson", outside / "a.tmp"]
    for path in (*remaining, tmp_path / "a.tmp", tmp_path / "entries" / "b.tmp"):
        path.touch()
    (tmp_path / "link").symlink_to(outside)
    assert sweep(tmp_path, time.time() + 7200) == 2
    assert all(path.exists() for path in remaining)
    assert sweep(tmp_path / "nowhere", time.time()) == 0


def test_a_file_beneath_a_folder_is_whole_or_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_beneath(tmp_path, "aa/file", b"a" * 100_000)
    assert (tmp_path / "aa" / "file").read_bytes() == b"a" * 100_000
    assert (tmp_path / "aa" / "file").stat().st_mode & 0o007 == 0

    def fail(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    for call in ("write", "fsync", "rename"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, fail)
            with pytest.raises(OSError, match="No space"):
                write_beneath(tmp_path, "bb/file", b"b")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["aa", "bb", "file"]


def test_no_file_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / "aa").symlink_to(tmp_path / "elsewhere")
    for name in ("aa/file", "../file", "/file", "x/../file"):
        with pytest.raises(OSError, match=r"link|not a name"):
            write_beneath(root, name, b"x")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert [path.name for path in root.iterdir()] == ["aa"]
