"""The content of media files on the disk, and what is known of each."""

import hashlib
import os
import time
from pathlib import Path

import pytest
import redis

from feedcrawl.store.articles.files import FileContents, Files
from feedcrawl.store.disk.files import DiskUnavailable

BODY = b"\x89PNG and more"
SHA256 = hashlib.sha256(BODY).hexdigest()
NAME = f"{SHA256[:2]}/{SHA256}.png"


@pytest.fixture
def contents(tmp_path: Path) -> FileContents:
    return FileContents(tmp_path)


def test_content_lies_under_its_digest_and_is_written_once(contents: FileContents, tmp_path: Path) -> None:
    path = tmp_path / "files" / NAME
    assert not contents.touch(NAME)
    assert contents.keep(BODY, ".png") == (SHA256, NAME)
    assert path.read_bytes() == BODY
    number = path.stat().st_ino
    os.utime(path, (1.0, 1.0))
    assert contents.keep(BODY, ".png") == (SHA256, NAME)
    assert path.stat().st_ino == number
    assert path.stat().st_mtime > time.time() - 60  # used now
    assert [each.name for each in (tmp_path / "files").iterdir()] == [NAME[:2]]


def test_a_stored_file_can_be_dropped(contents: FileContents, tmp_path: Path) -> None:
    assert list(contents.present()) == []
    contents.keep(BODY, ".png")
    other = contents.keep(b"other", "")[1]
    os.utime(tmp_path / "files" / NAME, (5.0, 5.0))
    (tmp_path / "files" / NAME[:2] / "notes.txt").write_text("an operator's own")
    found = {name: used for some in contents.present() for name, used in some.items()}
    assert (set(found), found[NAME]) == ({NAME, other}, 5.0)
    assert contents.drop(NAME) == len(BODY)
    assert not contents.touch(NAME)
    assert contents.touch(other)


def test_a_symbolic_link_in_the_path_is_refused(contents: FileContents, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / NAME[:2]).symlink_to(tmp_path)
    for attempt in (lambda: contents.keep(BODY, ".png"), lambda: contents.touch(NAME)):
        with pytest.raises(DiskUnavailable) as refused:
            attempt()
        assert refused.value.code == "symlink_refused"


def test_the_state_of_a_file_and_its_waiting_articles_are_stored(redis_client: redis.Redis) -> None:
    files = Files(redis_client, life_sec=60)
    assert files.load([]) == {}
    files.save("file:a", {"status": "stored", "path": "files/aa/ä"})
    assert files.load(["file:a", "file:b"]) == {"file:a": {"status": "stored", "path": "files/aa/ä"}}
    files.refer("file:a", "u1")
    files.refer("file:a", "u2")
    assert files.referrers("file:a") == {"u1", "u2"}
    assert files.referrers("file:b") == set()
    assert all(0 < redis_client.ttl(key) <= 60 for key in redis_client.keys("fc:*"))
