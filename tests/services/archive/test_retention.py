import os
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from scrapy.settings import Settings
from warcio.archiveiterator import ArchiveIterator

from feedcrawl.config import Config
from feedcrawl.domain.archive.warc import Captured, Exchange
from feedcrawl.services.archive import retention
from feedcrawl.services.archive.retention import apply
from feedcrawl.settings import from_environment
from feedcrawl.store.articles.files import FileContents
from feedcrawl.store.disk.ndjson import NdjsonFile
from feedcrawl.store.disk.raw import RawStore
from feedcrawl.store.disk.raw_files import day_sizes
from feedcrawl.store.disk.raw_index import RawRef

TODAY = date(2026, 11, 28)
NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)


def config(data: Path, **given: str) -> Config:
    own = {"FEEDCRAWL_DATA_DIR": str(data)} | {
        f"FEEDCRAWL_KEEP_{name}" + ("" if name.endswith("_BYTES") else "_DAYS"): value for name, value in given.items()
    }
    return Config.from_settings(Settings(from_environment({}) | own))


def archive(data: Path, days_ago: int, *fetches: tuple[str, str | None, RawRef | None]) -> list[RawRef]:
    """A run's file of that day: a body, a feed, and the capture that a 304 refers to."""
    with closing(RawStore(data / "raw", software="feedcrawl/test")) as store:
        return [
            store.append(
                Exchange(
                    str(uuid4()),
                    "http://a.test/",
                    NOON - timedelta(days=days_ago, seconds=60 - number),
                    304 if of else 200,
                    body=b"" if of else body.encode() * 50,
                    feed_id=feed,
                    previous=Captured.from_json(of.source) if of and of.source else None,
                )
            )
            for number, (body, feed, of) in enumerate(fetches)
        ]


def found(data: Path) -> dict[str, RawRef]:
    with closing(RawStore(data / "raw", software="feedcrawl/test")) as store:
        return {ref.fetch_id: ref for ref in store.refs()}


def read(data: Path, ref: RawRef) -> bytes:
    with closing(RawStore(data / "raw", software="feedcrawl/test")) as store:
        assert store.read(ref, "request").startswith(b"GET ")
        return store.read(ref)


def records(data: Path) -> Iterator[str]:
    """All records of all files, by warcio, each with a right digest."""
    for path in sorted((data / "raw").rglob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise", verify_http=True):
                record.content_stream().read()
                yield record.rec_type


def test_archives_without_a_limit_are_kept(tmp_path: Path) -> None:
    archive(tmp_path, 400, ("page", None, None))
    assert apply(config(tmp_path), TODAY) is None
    assert len(found(tmp_path)) == 1
    assert not (tmp_path / retention.MARKER).exists()


def test_days_of_articles_and_entries_go_each_by_its_own_age(tmp_path: Path) -> None:
    for folder in ("articles", "entries"):
        for days_ago in (0, 1, 2, 3):
            NdjsonFile(tmp_path / folder).append(TODAY - timedelta(days=days_ago), {"uid": "a"})
    removed = apply(config(tmp_path, ARTICLES="1", ENTRIES="2"), TODAY)
    assert removed is not None
    assert removed.days == 3
    assert [each.day for each in NdjsonFile(tmp_path / "articles").days()] == [27, 28]
    assert [each.day for each in NdjsonFile(tmp_path / "entries").days()] == [26, 27, 28]


def test_an_old_file_goes_with_its_index_and_its_day(tmp_path: Path) -> None:
    archive(tmp_path, 3, ("old", None, None))
    (young,) = archive(tmp_path, 2, ("young", None, None))
    removed = apply(config(tmp_path, RAW="2"), TODAY)
    assert removed is not None
    assert (removed.files, removed.reduced) == (1, 0)
    assert removed.freed_bytes > 500
    assert list(found(tmp_path)) == [young.fetch_id]
    assert [path.name for path in (tmp_path / "raw").iterdir()] == ["2026-11-26"]


def test_the_last_fetches_of_a_feed_stay_with_their_first_records(tmp_path: Path) -> None:
    body, _, _ = archive(tmp_path, 9, ("feed", "f", None), ("page", None, None), ("other", None, None))
    seen = [body]
    for days_ago in (8, 7, 6, 5, 4, 3):
        seen += archive(tmp_path, days_ago, ("", "f", body), (f"page {days_ago}", None, None))[:1]
    removed = apply(config(tmp_path, RAW="1"), TODAY)
    assert removed is not None
    assert (removed.files, removed.reduced) == (1, 6)
    left = found(tmp_path)
    assert set(left) == {each.fetch_id for each in (seen[0], *seen[2:])}
    assert read(tmp_path, left[body.fetch_id]) == b"feed" * 50
    assert all(read(tmp_path, left[each.fetch_id]) == b"" for each in seen[2:])
    assert left[body.fetch_id].file.startswith("2026-11-19/kept-")
    assert sorted(records(tmp_path)) == ["request"] * 6 + ["response"] + ["revisit"] * 5 + ["warcinfo"] * 6
    os.utime(tmp_path / retention.MARKER, (0, 0))
    again = apply(config(tmp_path, RAW="1"), TODAY)
    assert again is not None
    assert (again.files, again.reduced) == (0, 0)


def test_a_record_that_a_kept_page_refers_to_stays(tmp_path: Path) -> None:
    body, _ = archive(tmp_path, 9, ("page", None, None), ("other", None, None))
    archive(tmp_path, 0, ("", None, body))
    apply(config(tmp_path, RAW="1"), TODAY)
    assert read(tmp_path, found(tmp_path)[body.fetch_id]) == b"page" * 50


STEPS = 9
"""Of a pass that drops one file and makes another smaller."""


class Killed(Exception):
    pass


@pytest.mark.parametrize("steps", range(STEPS + 1))
def test_a_pass_killed_at_any_step_loses_no_kept_record_and_is_completed(
    tmp_path: Path, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, _ = archive(tmp_path, 9, ("feed", "f", None), ("page", None, None))
    archive(tmp_path, 8, ("page", None, None))
    done = 0

    def counted(name: str, real: Any) -> Any:
        def step(*arguments: Any, **named: Any) -> Any:
            nonlocal done
            done += 1
            if done > steps:
                raise Killed(name)
            return real(*arguments, **named)

        return step

    with monkeypatch.context() as patched:
        for name in ("unlink", "replace", "rmdir"):
            patched.setattr(Path, name, counted(name, getattr(Path, name)))
        try:
            apply(config(tmp_path, RAW="1"), TODAY)
        except Killed:
            assert steps < STEPS
        else:
            assert steps == STEPS
    assert read(tmp_path, found(tmp_path)[body.fetch_id]) == b"feed" * 50
    apply(config(tmp_path, RAW="1"), TODAY)
    assert list(found(tmp_path)) == [body.fetch_id]
    assert read(tmp_path, found(tmp_path)[body.fetch_id]) == b"feed" * 50
    assert sorted(path.name for path in (tmp_path / "raw").iterdir()) == ["2026-11-19"]
    assert list(records(tmp_path)) == ["warcinfo", "response", "request"]


def test_a_pass_runs_once_a_day_in_a_single_process(tmp_path: Path) -> None:
    wanted = config(tmp_path, RAW="1")
    assert apply(wanted, TODAY) is not None
    archive(tmp_path, 9, ("page", None, None))
    assert apply(wanted, TODAY) is None
    os.utime(tmp_path / retention.MARKER, (0, 0))
    with retention._turn(tmp_path) as turn:
        assert turn is not None
        assert apply(wanted, TODAY) is None
    assert len(found(tmp_path)) == 1
    assert apply(wanted, TODAY) is not None
    assert not found(tmp_path)


def test_a_stopped_pass_removes_nothing_more_and_is_due_again(tmp_path: Path) -> None:
    archive(tmp_path, 9, ("page", None, None))
    assert apply(config(tmp_path, RAW="1"), TODAY, lambda: True) is not None
    assert len(found(tmp_path)) == 1
    assert apply(config(tmp_path, RAW="1"), TODAY) is not None
    assert not found(tmp_path)


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    archive(tmp_path, 9, ("page", None, None))
    (tmp_path / "raw" / "2026-11-19" / "notes.txt").write_text("mine")
    (tmp_path / "raw" / "elsewhere").mkdir()
    (tmp_path / "raw" / "2026-11-01").symlink_to(tmp_path)
    apply(config(tmp_path, RAW="1"), TODAY)
    left = sorted(str(path.relative_to(tmp_path)) for path in (tmp_path / "raw").rglob("*"))
    assert [each for each in left if "2026-11-01/" not in each] == [
        "raw/2026-11-01", "raw/2026-11-19", "raw/2026-11-19/notes.txt", "raw/elsewhere",
    ]  # fmt: skip


def test_media_files_go_with_the_last_line_that_names_them(tmp_path: Path) -> None:
    contents, stored = FileContents(tmp_path), {}
    lines = {kind: NdjsonFile(tmp_path / kind) for kind in ("files", "articles", "entries")}
    for name in ("old", "article", "entry", "known", "used"):
        sha256, path = contents.keep(name.encode(), "")
        stored[name] = {"url": f"http://a.test/{name}", "sha256": sha256}
        lines["files"].append(TODAY - timedelta(9 if name in ("old", "known") else 1), stored[name])
        if name != "used":
            os.utime(tmp_path / "files" / path, (1.0, 1.0))
    pending = {name: [{**record, "sha256": None}] for name, record in stored.items()}
    lines["articles"].append(TODAY - timedelta(9), {"files": pending["old"]})
    lines["articles"].append(TODAY, {"files": [*pending["article"], stored["known"] | {"url": "http://b.test/"}]})
    lines["articles"].append(TODAY, {"of a version": "without files"})
    lines["entries"].append(TODAY - timedelta(8), {"files": pending["entry"]})

    removed = apply(config(tmp_path, ARTICLES="5"), TODAY)
    left = {path.read_text() for path in (tmp_path / "files").glob("??/*")}
    assert left == {"article", "entry", "known", "used"}
    assert removed is not None
    assert (removed.days, removed.files, removed.freed_bytes) == (1, 1, 3)


def test_a_stopped_pass_drops_no_media_file(tmp_path: Path) -> None:
    _, path = FileContents(tmp_path).keep(b"old", "")
    os.utime(tmp_path / "files" / path, (1.0, 1.0))
    apply(config(tmp_path, ARTICLES="5"), TODAY, lambda: True)
    assert (tmp_path / "files" / path).exists()
    apply(config(tmp_path, ARTICLES="5"), TODAY)
    assert not (tmp_path / "files" / path).exists()


def test_the_archive_is_kept_within_a_size_its_oldest_day_first(tmp_path: Path) -> None:
    for days_ago in (3, 2, 1, 0):
        archive(tmp_path, days_ago, (str(days_ago) * 4000, None, None), ("feed", f"f{days_ago}", None))
    sizes = day_sizes(tmp_path / "raw")
    limit = sum(sizes[f"{TODAY - timedelta(days=ago)}"] for ago in (0, 1))
    assert apply(config(tmp_path, RAW_BYTES=str(limit)), TODAY) is not None
    left = found(tmp_path).values()
    assert sorted((TODAY - ref.fetched_at.date()).days for ref in left if ref.feed_id is None) == [0, 1]
    assert {ref.feed_id for ref in left if ref.feed_id} == {"f0", "f1", "f2", "f3"}  # the last fetches of each feed
    assert sum(day_sizes(tmp_path / "raw").values()) <= limit
    assert apply(config(tmp_path, RAW_BYTES=str(limit)), TODAY) is None  # done for today
    assert apply(config(tmp_path, RAW_BYTES="1"), TODAY) is not None  # unless it is too large
    assert [(TODAY - ref.fetched_at.date()).days for ref in found(tmp_path).values() if ref.feed_id is None] == [0]


@pytest.mark.parametrize(("keep_days", "size_days", "expected"), [("1", 3, [0, 1]), ("3", 2, [0, 1])])
def test_of_age_and_size_the_stricter_limit_decides(
    tmp_path: Path, keep_days: str, size_days: int, expected: list[int]
) -> None:
    for days_ago in (3, 2, 1, 0):
        archive(tmp_path, days_ago, (str(days_ago) * 4000, None, None))
    sizes = day_sizes(tmp_path / "raw")
    limit = sum(sizes[f"{TODAY - timedelta(days=ago)}"] for ago in range(size_days))
    assert apply(config(tmp_path, RAW=keep_days, RAW_BYTES=str(limit)), TODAY) is not None
    assert sorted((TODAY - ref.fetched_at.date()).days for ref in found(tmp_path).values()) == expected
