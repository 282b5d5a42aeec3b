"""Exports records into a table of a database, by SQLAlchemy: SQLite and PostgreSQL, one row for each record.

A record replaces the row with its key (`exports.KEYS`), so that an export can be repeated, and an export of the last
days keeps a table up to date.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sql
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.operations.tables import typed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from feedcrawl.domain.operations.tables import Column, Kind

    Record = Mapping[str, object]

BATCH: Final = 500
"""Records of one transaction."""
DRIVERS: Final = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
_TYPES: Final[Mapping[Kind, Any]] = {
    "text": sql.Text(),
    "moment": sql.DateTime(timezone=True),
    "integer": sql.BigInteger(),
    "number": sql.Double(),
    "boolean": sql.Boolean(),
    "texts": sql.JSON(),
    "json": sql.Text(),
}
_UPSERTS: Final[Mapping[str, Any]] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


def write(
    records: Iterable[Mapping[str, object]], table: str, columns: Sequence[Column], key: Sequence[str], to: str
) -> int:
    """Write records into a table, which is made if missing and gets missing columns; returns the number of records.

    `to` is `sqlite:FILE` or `postgresql://user:password@host/database`. Raises Refusal (`bad_database`), whose text has
    no password.
    """
    with _failures(to):
        engine = sql.create_engine(address(to))
        try:
            made = _table(engine, table, columns, key)
            return _upsert(engine, made, columns, records)
        finally:
            engine.dispose()


def address(to: str) -> sql.URL:
    """The address of a database as SQLAlchemy takes it; raises Refusal (`bad_database`)."""
    scheme, _, rest = to.partition(":")
    driver = DRIVERS.get(scheme)
    if driver is None or not rest:
        raise Refusal("bad_database", "--to is sqlite:FILE or postgresql://user:password@host/database")
    if driver == "sqlite" and not rest.startswith("//"):
        return sql.URL.create("sqlite", database=rest)
    return sql.make_url(f"{driver}:{rest}")


def _table(engine: sql.Engine, name: str, columns: Sequence[Column], key: Sequence[str]) -> sql.Table:
    fields = [
        sql.Column(each.name, _TYPES[each.kind], primary_key=each.name in key, nullable=each.name not in key)
        for each in columns
    ]
    table = sql.Table(name, sql.MetaData(), *fields)
    table.create(engine, checkfirst=True)
    there = {each["name"] for each in sql.inspect(engine).get_columns(name)}
    quote = engine.dialect.identifier_preparer.quote
    with engine.begin() as connection:
        for field in fields:
            if field.name not in there:
                kind = field.type.compile(engine.dialect)
                connection.execute(sql.text(f"ALTER TABLE {quote(name)} ADD COLUMN {quote(field.name)} {kind}"))
    return table


def _upsert(
    engine: sql.Engine, table: sql.Table, columns: Sequence[Column], records: Iterable[Mapping[str, object]]
) -> int:
    insert = _UPSERTS[engine.dialect.name](table)
    key = [each.name for each in table.primary_key]
    changed = {each.name: insert.excluded[each.name] for each in columns if each.name not in key}
    statement, rows, count = insert.on_conflict_do_update(index_elements=key, set_=changed), iter(records), 0
    while part := list(islice(rows, BATCH)):
        with engine.begin() as connection:
            connection.execute(statement, [_row(record, columns) for record in part])
        count += len(part)
    return count


def _row(record: Record, columns: Sequence[Column]) -> dict[str, object]:
    return {each.name: _cell(typed(record.get(each.name), each.kind)) for each in columns}


def _cell(value: object) -> object:
    """The value without the character that PostgreSQL cannot store."""
    if isinstance(value, list):
        return [_cell(each) for each in value]
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


@contextmanager
def _failures(to: str) -> Iterator[None]:
    try:
        yield
    except ArgumentError:
        raise Refusal("bad_database", "--to is sqlite:FILE or postgresql://user:password@host/database") from None
    except SQLAlchemyError as error:
        detail = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        raise Refusal("bad_database", f"{to.partition(':')[0]}: {detail}") from None
