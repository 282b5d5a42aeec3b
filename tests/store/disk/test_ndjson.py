import errno
import fcntl
import json
import os
import subprocess
import sys
import threading
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from disks import disk_of
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.store.disk import ndjson
from feedcrawl.store.disk.files import DiskUnavailable, json_line, map_disk_errors, open_beneath
from feedcrawl.store.disk.ndjson import NdjsonFile

DAY = date(2026, 11, 27)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "entries" / "2026-11-27.ndjson"


@pytest.fixture
def entries(tmp_path):
    return NdjsonFile(tmp_path / "entries")


def test_each_day_has_a_file_with_a_line_per_record(entries, file):
    entries.append(DAY, {"uid": "a", "at": datetime(2026, 1, 2, tzinfo=UTC)})
    entries.append(DAY, {"uid": "b"}, {"uid": "c"})
    entries.append(DAY + timedelta(days=1), {"uid": "d"})
    entries.append(DAY)
    assert file.read_bytes() == b'{"uid":"a","at":"2026-01-02T00:00:00Z"}\n{"uid":"b"}\n{"uid":"c"}\n'
    assert sorted(path.name for path in file.parent.iterdir()) == ["2026-11-27.ndjson", "2026-11-28.ndjson"]
    assert [record["uid"] for record in entries.read(DAY)] == ["a", "b", "c"]


def test_a_day_without_a_file_has_no_records(entries):
    assert list(entries.read(DAY)) == []


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("café 日本 😀", '"café 日本 😀"'),
        ("a\nb\r\x0b\x1e\x00", r'"a\nb\r\u000b\u001e\u0000"'),
        ("\u2028\u2029\x85", r'"\u2028\u2029\u0085"'),
        ("\ud800x", '"\ufffdx"'),
        ("\ud83d\ude00", '"😀"'),
        (datetime(2026, 1, 2, 3, tzinfo=timezone(timedelta(hours=1))), '"2026-01-02T02:00:00Z"'),
        (datetime(2026, 1, 2, 3, 4, 5, 600000, tzinfo=UTC), '"2026-01-02T03:04:05.600000Z"'),
        (("a", None, True, 1.5), '["a",null,true,1.5]'),
    ],
)
def test_values_in_a_line(value, line):
    written = json_line({"v": value}).decode()
    assert written == f'{{"v":{line}}}\n'
    assert len(written.splitlines()) == 1


@pytest.mark.parametrize(("value", "error"), [(float("nan"), ValueError), (b"bytes", TypeError), ({1}, TypeError)])
def test_a_value_without_a_json_form_is_a_bug_and_writes_nothing(entries, file, value, error):
    with pytest.raises(error):
        entries.append(DAY, {"v": "good"}, {"v": value})
    assert not file.exists()


@given(st.dictionaries(st.text(), st.recursive(st.text() | st.integers() | st.none(), st.lists, max_leaves=4)))
def test_a_record_is_a_single_line_and_read_back(record):
    line = json_line(record)
    assert len(line.decode().splitlines()) == 1
    assert json.loads(line) == record


@pytest.mark.parametrize("torn", [b'{"uid":"a"', b'{"uid":"caf\xc3', b"\0\0\0", b"null", b"[]", b"x" * 200_000])
def test_a_torn_last_line_costs_itself_alone(entries, file, torn):
    entries.append(DAY, {"uid": "a"})
    with file.open("ab") as out:
        out.write(torn)
    entries.append(DAY, {"uid": "b"})
    assert [record["uid"] for record in entries.read(DAY)] == ["a", "b"]
    assert file.read_bytes() == b'{"uid":"a"}\n{"uid":"b"}\n'


def test_a_file_with_only_a_torn_line_begins_anew(entries, file):
    file.parent.mkdir()
    file.write_bytes(b'{"uid":"a"')
    entries.append(DAY, {"uid": "b"})
    assert file.read_bytes() == b'{"uid":"b"}\n'


@pytest.mark.parametrize("torn", [b"", b'{"uid"'])
def test_a_full_disk_leaves_no_half_line(entries, file, torn):
    entries.append(DAY, {"uid": "a"})
    with file.open("ab") as out:
        out.write(torn)
    before = file.read_bytes()
    with disk_of(200), pytest.raises(DiskUnavailable) as caught:
        entries.append(DAY, {"uid": "b"}, {"text": "x" * 300})
    assert caught.value.path == file
    assert file.read_bytes() == before.removesuffix(torn)
    entries.append(DAY, {"uid": "c"})
    assert [record["uid"] for record in entries.read(DAY)] == ["a", "c"]


def test_a_durable_append_reaches_the_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    NdjsonFile(tmp_path).append(DAY, {"uid": "a"})
    assert synced == []
    NdjsonFile(tmp_path, durable=True).append(DAY, {"uid": "a"})
    assert len(synced) == 1


APPEND_MANY = """
import sys
import threading
from datetime import date
from pathlib import Path
from feedcrawl.store.disk.ndjson import NdjsonFile
for number in range(200):
    NdjsonFile(Path(sys.argv[1])).append(date(2026, 11, 27), {"from": sys.argv[2], "number": number, "text": "x" * 999})
"""


def test_processes_append_to_the_same_file(entries, file):
    command = [sys.executable, "-c", APPEND_MANY, str(file.parent)]
    writers = [subprocess.Popen([*command, name]) for name in "abc"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    found = [(record["from"], record["number"]) for record in entries.read(DAY)]
    assert sorted(found) == [(name, number) for name in "abc" for number in range(200)]


def link_to_a_file(tmp_path):
    (tmp_path / "elsewhere").write_text('{"secret":1}\n')
    (tmp_path / "entries").mkdir()
    (tmp_path / "entries" / "2026-11-27.ndjson").symlink_to(tmp_path / "elsewhere")


def link_to_a_folder(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "entries").symlink_to(tmp_path / "elsewhere")


def pipe(tmp_path):
    (tmp_path / "entries").mkdir()
    os.mkfifo(tmp_path / "entries" / "2026-11-27.ndjson")


@pytest.mark.parametrize(
    ("planted", "reason"),
    [
        (link_to_a_file, "symlink_refused"),
        (link_to_a_folder, "symlink_refused"),
        (pipe, "not_a_file"),
    ],
)
def test_planted_links_and_devices_are_refused(entries, tmp_path, planted, reason):
    planted(tmp_path)
    for use in (lambda: entries.append(DAY, {"uid": "a"}), lambda: list(entries.read(DAY))):
        with pytest.raises(DiskUnavailable) as caught:
            use()
        assert caught.value.reason == reason


def test_the_data_directory_itself_may_be_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "data").symlink_to(tmp_path / "disk")
    NdjsonFile(tmp_path / "data" / "entries").append(DAY, {"uid": "a"})
    assert (tmp_path / "disk" / "entries" / "2026-11-27.ndjson").is_file()


@pytest.mark.parametrize("name", ["../x", "a/../x", "/etc/passwd", "a//x", "", ".", "a/.", "a\0b"])
def test_names_that_lead_out_are_refused(tmp_path, name):
    with pytest.raises((OSError, ValueError)):
        open_beneath(tmp_path / "root", name, os.O_RDWR | os.O_CREAT)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "disk_full"),
        (OSError(errno.EDQUOT, "Quota exceeded"), "disk_full"),
        (PermissionError(errno.EACCES, "Permission denied"), "no_permission"),
        (OSError(errno.EROFS, "Read-only"), "read_only"),
        (OSError(errno.EIO, "I/O error"), "io_error"),
        (OSError(errno.EMFILE, "Too many open files"), "too_many_files"),
        (OSError(errno.EFBIG, "File too large"), "file_too_large"),
        (OSError("no number"), "unknown"),
    ],
)
def test_errors_of_the_disk_become_disk_unavailable(error, reason):
    with pytest.raises(DiskUnavailable) as caught, map_disk_errors(Path("data/x")):
        raise error
    assert (caught.value.path, caught.value.reason) == (Path("data/x"), reason)
    assert str(caught.value) == f"{reason}: data/x"
    assert caught.value.__cause__ is error


def test_a_writer_that_sleeps_in_the_middle_of_a_line_keeps_others_for_a_moment_only(entries, file, monkeypatch):
    monkeypatch.setattr(ndjson, "LOCK_SEC", 0.05)
    entries.append(DAY, {"uid": "a"})
    with file.open("ab") as asleep:
        fcntl.flock(asleep, fcntl.LOCK_EX)
        with pytest.raises(DiskUnavailable) as refused:
            entries.append(DAY, {"uid": "b"})
        assert refused.value.reason == "locked"
        threading.Timer(0.02, lambda: fcntl.flock(asleep, fcntl.LOCK_UN)).start()
        monkeypatch.setattr(ndjson, "LOCK_SEC", 20.0)
        entries.append(DAY, {"uid": "c"})
    assert [record["uid"] for record in entries.read(DAY)] == ["a", "c"]
