import csv
import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyarrow import parquet
from scrapy.exceptions import UsageError
from warcio.archiveiterator import ArchiveIterator

from feedcrawl.domain.archive.warc import Captured, Exchange
from feedcrawl.services.archive import exports
from feedcrawl.store.disk.ndjson import NdjsonFile
from feedcrawl.store.disk.raw import RawStore
from feedcrawl.store.disk.raw_index import RawRef

Call = Callable[..., tuple[int, str, str]]
DAYS = [date(2026, 11, number) for number in (26, 27, 28)]


def article(uid: str, **fields: Any) -> dict[str, Any]:
    empty = {field.name: None for field in exports.columns_of("articles")}
    return {**empty, "uid": uid, "title": f"About {uid}", "authors": ["Ada", "Bob"], "categories": []} | fields


@pytest.fixture
def stored(tmp_path: Path) -> NdjsonFile:
    lines = NdjsonFile(tmp_path / "data" / "articles")
    lines.append(DAYS[0], article("a", text_len=1), article("b"))
    lines.append(DAYS[1], article("a", text_len=2), article("c", title="=1+1"))
    lines.append(DAYS[2], article("a", text_len=3, fetched_at="2026-11-28T00:33:05.5Z", fetched_ts=1.5), article("d"))
    with (tmp_path / "data" / "articles" / "2026-11-28.ndjson").open("ab") as file:
        file.write(b'{"uid":"torn')
    (tmp_path / "data" / "articles" / "notes.txt").write_text("not ours")
    (tmp_path / "data" / "articles" / "2026-13-28.ndjson").write_text("not ours")
    return lines


def uids(text: str) -> list[str]:
    return [json.loads(line)["uid"] for line in text.splitlines()]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ["b", "c", "a", "d"]),
        (["--since", "2026-11-28"], ["a", "d"]),
        (["--until", "2026-11-26"], ["a", "b"]),
        (["--since", "2026-11-27", "--until", "2026-11-27"], ["a", "c"]),
        (["--since", "2027-01-01"], []),
        (["--every-version"], ["a", "b", "a", "c", "a", "d"]),
    ],
)
def test_the_last_version_of_each_within_the_days(
    call: Call, stored: NdjsonFile, options: list[str], expected: list[str]
) -> None:
    code, out, err = call("export", "articles", *options)
    assert (code, err) == (0, f"scrapy export: {len(expected)} articles\n")
    assert uids(out) == expected


def test_entries_of_two_feeds_may_share_a_uid(call: Call, tmp_path: Path) -> None:
    lines = NdjsonFile(tmp_path / "data" / "entries")
    lines.append(DAYS[0], *({"feed_id": feed, "entry_uid": "1", "revision": n} for n, feed in enumerate("xyx")))
    _, out, _ = call("export", "entries")
    assert [json.loads(line)["revision"] for line in out.splitlines()] == [1, 2]


def test_a_table_has_each_field_and_no_formula(call: Call, stored: NdjsonFile, tmp_path: Path) -> None:
    code, out, _ = call("export", "articles", "-o", str(tmp_path / "out.csv"))
    assert (code, out) == (0, "")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text("utf-8"), newline="")))
    assert [row["uid"] for row in rows] == ["b", "c", "a", "d"]
    assert (rows[1]["title"], rows[1]["authors"], rows[2]["text_len"], rows[0]["text_len"]) == (
        "'=1+1", '["Ada","Bob"]', "3", "",
    )  # fmt: skip
    assert list(rows[0]) == [field.name for field in exports.columns_of("articles")]


def test_parquet_has_types(call: Call, stored: NdjsonFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "_GROUP", 3)
    assert call("export", "articles", "-o", str(tmp_path / "out.parquet"))[0] == 0
    table = parquet.read_table(tmp_path / "out.parquet")
    rows = {row["uid"]: row for row in table.to_pylist()}
    assert list(rows) == ["b", "c", "a", "d"]
    assert rows["a"]["fetched_at"] == datetime(2026, 11, 28, 0, 33, 5, 500_000, tzinfo=UTC)
    assert (rows["a"]["fetched_ts"], rows["a"]["text_len"], rows["a"]["authors"]) == (1.5, 3, ["Ada", "Bob"])
    assert (rows["c"]["title"], rows["b"]["fetched_at"]) == ("=1+1", None)


def test_the_suffix_names_the_format_and_csv_may_begin_with_a_mark(
    call: Call, stored: NdjsonFile, tmp_path: Path
) -> None:
    assert call("export", "articles", "-o", str(tmp_path / "out.jsonl"))[0] == 0
    assert {json.loads(line)["uid"] for line in (tmp_path / "out.jsonl").read_text().splitlines()} == set("abcd")
    assert call("export", "articles", "--bom", "-o", str(tmp_path / "out.csv"))[0] == 0
    names = (tmp_path / "out.csv").read_bytes().decode().splitlines()[0]
    assert names == "\ufeff" + ",".join(field.name for field in exports.columns_of("articles"))
    with pytest.raises(UsageError, match="--bom is for CSV"):
        call("export", "articles", "--bom")


def test_a_failed_export_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.ndjson"
    path.write_text("old")

    def write() -> None:
        with exports.whole_file(path) as out:
            out.write(b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write()
    assert [each.name for each in tmp_path.iterdir()] == ["out.ndjson"]
    assert path.read_text() == "old"


def test_records_appended_during_an_export_are_left_out(stored: NdjsonFile) -> None:
    found = exports.records(stored, ("uid",), None, None)
    seen = [next(found)["uid"]]
    stored.append(DAYS[0], article("new"))
    stored.append(DAYS[2], article("a"), article("newer"))
    assert seen + [record["uid"] for record in found] == ["b", "c", "a", "d"]


@pytest.mark.parametrize(
    "arguments",
    [[], ["weather"], ["articles", "entries"], ["articles", "--since", "today"], ["articles", "--format", "xls"],
     ["articles", "--format", "parquet"], ["articles", "-o", "x.doc"], ["cdxj", "--format", "csv"],
     ["cdxj", "--every-version"]],
)  # fmt: skip
def test_bad_arguments_are_refused(call: Call, arguments: list[str]) -> None:
    with pytest.raises(UsageError):
        call("export", *arguments)


def test_a_file_that_cannot_be_written_is_explained(call: Call, stored: NdjsonFile, tmp_path: Path) -> None:
    code, _, err = call("export", "articles", "-o", str(tmp_path / "none" / "out.csv"))
    assert code == 2
    assert "out.csv cannot be written" in err


# --- the index of the archive ---


def archived(folder: Path) -> dict[str, RawRef]:
    """One URL that came, came the same, was confirmed, and changed; one that nobody knows, one that failed."""
    refs: dict[str, RawRef] = {}
    with closing(RawStore(folder / "data" / "raw", software="test")) as store:

        def fetch(
            name: str, day: date, path: str, status: int, body: bytes, kind: str = "text/html", **more: Any
        ) -> None:
            at = datetime(day.year, day.month, day.day, 12, len(refs), tzinfo=UTC)
            headers = [(b"Content-Type", kind.encode())] if kind else []
            url = f"http://www.news.test{path}"
            refs[name] = store.append(
                Exchange(str(uuid4()), url, at, status, response_headers=headers, body=body, **more)
            )

        fetch("came", DAYS[0], "/A?b=1&a=2", 200, b"<p>one", "text/html; charset=utf-8")
        previous = Captured.from_json(refs["came"].source)
        fetch("same", DAYS[1], "/A?b=1&a=2", 200, b"<p>one", previous=previous)
        fetch("confirmed", DAYS[1], "/A?b=1&a=2", 304, b"", "", previous=previous)
        fetch("unknown", DAYS[1], "/A?b=1&a=2", 304, b"", "")
        fetch("changed", DAYS[2], "/A?b=1&a=2", 200, b"<p>two")
        fetch("failed", DAYS[2], "/", 404, b"no", "")
    return refs


def parts(text: str) -> list[tuple[str, str, dict[str, str]]]:
    found = [line.split(" ", 2) for line in text.splitlines()]
    return [(key, at, json.loads(fields)) for key, at, fields in found]


def test_an_index_leads_to_the_bytes_of_each_capture(call: Call, tmp_path: Path) -> None:
    refs = archived(tmp_path)
    code, out, err = call("export", "cdxj")
    assert (code, err) == (0, "scrapy export: 5 captures\n")
    assert out.encode().splitlines() == sorted(out.encode().splitlines())
    assert [(key, fields["status"], fields["mime"]) for key, _, fields in parts(out)] == [
        ("test,news)/", "404", "unk"),
        ("test,news)/a?a=2&b=1", "200", "text/html"),
        ("test,news)/a?a=2&b=1", "200", "warc/revisit"),
        ("test,news)/a?a=2&b=1", "200", "text/html"),  # a 304, as what it confirms
        ("test,news)/a?a=2&b=1", "200", "text/html"),
    ]
    assert [at for _, at, _ in parts(out)][1:] == [
        "20261126120000",
        "20261127120100",
        "20261127120200",
        "20261128120400",
    ]
    bodies = []
    for _, _, fields in parts(out):
        data = (tmp_path / "data" / "raw" / fields["filename"]).read_bytes()
        member = data[int(fields["offset"]) :][: int(fields["length"])]
        (record,) = [(each, each.content_stream().read()) for each in ArchiveIterator(io.BytesIO(member))]
        assert record[0].rec_headers["WARC-Target-URI"] == fields["url"]
        assert record[0].rec_headers["WARC-Payload-Digest"] == fields["digest"]
        assert record[0].rec_type == ("revisit" if fields["mime"] == "warc/revisit" else "response")
        bodies.append(record[1])
    assert bodies == [b"no", b"<p>one", b"", b"<p>one", b"<p>two"]
    digests = [fields["digest"] for *_, fields in parts(out)]
    assert digests[1:4] == [refs["came"].payload_digest] * 3  # by which a program finds the bytes of a revisit


def test_an_index_of_some_days_in_a_file(call: Call, tmp_path: Path) -> None:
    archived(tmp_path)
    path = tmp_path / "index.cdxj"
    assert call("export", "cdxj", "--since", "2026-11-27", "--until", "2026-11-27", "-o", str(path))[:2] == (0, "")
    assert [at[:8] for _, at, _ in parts(path.read_text())] == ["20261127"] * 2


def test_lost_and_damaged_records_are_left_out(call: Call, tmp_path: Path) -> None:
    refs = archived(tmp_path)
    (tmp_path / "data" / "raw" / refs["changed"].file).unlink()
    with (tmp_path / "data" / "raw" / refs["came"].file).open("r+b") as file:
        file.seek(refs["came"].offset)
        file.write(b"damaged")
    code, out, _ = call("export", "cdxj")
    assert code == 0
    assert [fields["mime"] for *_, fields in parts(out)] == ["warc/revisit"]


def test_articles_as_a_table_of_a_database(call: Call, stored: NdjsonFile, tmp_path: Path) -> None:
    to = f"sqlite:{tmp_path / 'out.db'}"
    for days in (["--until", "2026-11-27"], []):
        code, out, err = call("export", "articles", "--to", to, *days)
        assert (code, out) == (0, "")
    assert err == "scrapy export: 4 articles written to table articles\n"
    with closing(sqlite3.connect(tmp_path / "out.db")) as opened:
        found = opened.execute("SELECT uid, title, text_len, authors FROM articles ORDER BY uid").fetchall()
    assert [row[:3] for row in found] == [
        ("a", "About a", 3),
        ("b", "About b", None),
        ("c", "=1+1", None),
        ("d", "About d", None),
    ]
    assert json.loads(found[0][3]) == ["Ada", "Bob"]


def test_a_database_that_cannot_be_used_is_refused_in_a_sentence(call: Call, stored: NdjsonFile) -> None:
    code, _, err = call("export", "articles", "--to", "mysql://host/db")
    assert code == 2
    assert "--to is sqlite:FILE" in err
    with pytest.raises(UsageError, match="--to takes"):
        call("export", "articles", "--to", "sqlite:a.db", "--format", "csv")
