"""Records as rows of a database: SQLite, and PostgreSQL where Debian's is installed."""

import os
import pwd
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sql
from ports import free_port

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.operations.tables import Column
from feedcrawl.services.archive import databases, exports

COLUMNS = exports.columns_of("articles")
KEY = exports.KEYS["articles"]
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def article(uid: str, **fields: Any) -> dict[str, Any]:
    return {
        "uid": uid,
        "title": f"About {uid}",
        "authors": ["Ada", "Bob"],
        "files": [{"url": "x"}],
        "text_len": 5,
        "fetched_ts": 1.5,
        "published": "2026-11-28T00:33:05.5Z",
        "rendered": True,
    } | fields


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of Debian's package, as another user, since PostgreSQL refuses to run as root."""
    if not PROGRAMS:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    folder = Path("/tmp") / f"fc-pg-{os.getpid()}"
    folder.mkdir(mode=0o755)
    prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if prefix:
        shutil.chown(folder, pwd.getpwnam("postgres").pw_uid)
    port, run = free_port(), PROGRAMS[-1]
    options = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder} -c fsync=off"
    start = [*prefix, str(run / "pg_ctl"), "-D", str(folder / "data"), "-w", "-o", options, "-l", str(folder / "log")]
    try:
        init = [*prefix, str(run / "initdb"), "-D", str(folder / "data"), "-A", "trust", "-U", "ada", "-E", "UTF8"]
        subprocess.run(init, check=True, capture_output=True, cwd="/")
        subprocess.run([*start, "start"], check=True, capture_output=True, cwd="/")
        yield f"postgresql://ada:s3cret@127.0.0.1:{port}/postgres"
        subprocess.run([*start, "-m", "immediate", "stop"], check=True, capture_output=True, cwd="/")
    finally:
        shutil.rmtree(folder)


def check(to: str) -> None:
    """Records come as rows with their types, replace rows with their key, and fill a table that lacks columns."""
    assert databases.write([article("a"), article("b")], "articles", COLUMNS[:3], KEY, to) == 2
    records = [
        article("b", title="nul\0 and \ud800", text_len=7),
        article("c", published=None),
        article("c", text_len=9),
    ]
    assert databases.write(records, "articles", COLUMNS, KEY, to) == 3
    assert databases.write([], "articles", COLUMNS, KEY, to) == 0
    engine = sql.create_engine(databases.address(to))
    with engine.connect() as connection:
        rows = {row.uid: row for row in connection.execute(sql.text("SELECT * FROM articles ORDER BY uid"))}
    engine.dispose()
    assert list(rows) == ["a", "b", "c"]
    assert (rows["b"].title, rows["b"].text_len, rows["b"].fetched_ts) == ("nul\ufffd and ?", 7, 1.5)
    assert (rows["c"].text_len, bool(rows["c"].rendered)) == (9, True)
    assert str(rows["c"].published).startswith("2026-11-28 00:33:05.5")


def test_sqlite(tmp_path: Path) -> None:
    check(f"sqlite:{tmp_path / 'a.db'}")
    with closing(sqlite3.connect(tmp_path / "a.db")) as opened:
        found = opened.execute("SELECT json_extract(authors, '$[1]'), files FROM articles WHERE uid = 'b'").fetchone()
    assert found == ("Bob", '[{"url":"x"}]')


@pytest.mark.slow
def test_postgresql(postgresql: str) -> None:
    check(postgresql)
    engine = sql.create_engine(databases.address(postgresql))
    with engine.connect() as connection:
        found = connection.execute(
            sql.text("SELECT authors->>1, extract(year FROM published) FROM articles WHERE uid='b'")
        )
        assert tuple(map(str, found.one())) == ("Bob", "2026")
    engine.dispose()


def test_very_many_records_are_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "BATCH", 3)
    records = (article(str(number)) for number in range(10))
    columns = [Column("uid", "text"), Column("title", "text")]
    assert databases.write(records, "articles", columns, KEY, f"sqlite:{tmp_path / 'a.db'}") == 10


@pytest.mark.parametrize(
    ("to", "message"),
    [
        ("mysql://host/db", "--to is sqlite:FILE"),
        ("sqlite:", "--to is sqlite:FILE"),
        ("out.db", "--to is sqlite:FILE"),
        ("sqlite:/nowhere/at/all.db", "unable to open database file"),
        ("postgresql://ada:s3cret@127.0.0.1:9/db", "127.0.0.1"),
    ],
)
def test_a_database_that_cannot_be_used(to: str, message: str) -> None:
    with pytest.raises(Refusal) as raised:
        databases.write([article("a")], "articles", COLUMNS, KEY, to)
    assert raised.value.code == "bad_database"
    assert message in raised.value.detail
    assert "s3cret" not in str(raised.value)
