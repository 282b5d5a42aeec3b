"""One file of the embedded index: an FTS5 table of words without their text, and the documents, compressed.

The FTS5 table is contentless: it stores words and their places, not the text, so that the whole file is smaller than
twice the text. A contentless table forgets a document only if it is given the document's words again; they are computed
from the stored document (`_columns`, whose version is part of the file).
"""

from __future__ import annotations

import json
import math
import sqlite3
import threading
import time
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.search.beginnings import fits, without_short
from feedcrawl.domain.search.documents import labels_of
from feedcrawl.domain.search.query import SHORT_COST, affordable, expression, parts, ranking
from feedcrawl.domain.search.words import spaced
from feedcrawl.store.search.interface import DAMAGED, LOCKED, MISSING, Changes, IndexUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from feedcrawl.domain.search.documents import Filters, RawContentRecord
    from feedcrawl.domain.search.query import Part, Query

VERSION: Final = "1"
"""Of the tables and of `_columns`: a file of another version is built again."""
CANDIDATES: Final = 10_000
"""Matches that are ranked, the last stored first: the time of a search is bounded, however common its words are."""
COUNTED: Final = 1_000_000
"""Words that are read to rank matches (some 50 ns each): the terms that are too common for that do not count."""
SCANNED: Final = 200
"""Documents that are read for short beginnings of words (some 0.1 ms each); if too few match, the index tells."""
_SAMPLE: Final = 2_000
"""The last documents, in which the frequency of a term is seen (half a millisecond)."""
_WEIGHTLESS: Final = 0.5
"""Share of the documents above which bm25 gives a word no weight (1e-6), so that counting it tells nothing."""
SEARCH_SEC: Final = 5.0
_STEPS: Final = 10_000
"""Steps of SQLite's machine between two looks at the clock."""
_READERS: Final = 4
_DAY_MS: Final = 86_400_000
_PRIMARY: Final = 0xFF
_CODES: Final = {
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: DAMAGED,
    sqlite3.SQLITE_FORMAT: DAMAGED,
    sqlite3.SQLITE_CANTOPEN: MISSING,
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_INTERRUPT: "search_too_slow",
    sqlite3.SQLITE_FULL: "disk_full",
    sqlite3.SQLITE_IOERR: "io_error",
    sqlite3.SQLITE_READONLY: "read_only",
    sqlite3.SQLITE_PERM: "no_permission",
    sqlite3.SQLITE_NOMEM: "out_of_memory",
}
"""Reason codes by SQLite's primary result code (https://sqlite.org/rescode.html)."""
_SCHEMA: Final = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, at_ms INTEGER NOT NULL);
CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE days (day INTEGER PRIMARY KEY, first_id INTEGER NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(
    title, text, people, labels, content='', tokenize="unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
);
"""
_BEST: Final = """
SELECT id FROM (
    SELECT words.rowid AS id, bm25(words, 8.0, 1.0, 3.0, 0.0) AS score FROM words{since}
    ORDER BY words.rowid DESC LIMIT :candidates
) ORDER BY score, id DESC LIMIT :limit OFFSET :offset
"""
"""A title's word counts as eight of the text, an author's name as three; of equal matches the last stored is first."""
_LAST: Final = "SELECT words.rowid FROM words{since} ORDER BY words.rowid DESC LIMIT :candidates"
_AMONG: Final = """
SELECT rowid FROM words
WHERE words MATCH :ranked AND rowid BETWEEN :first AND :last AND +rowid IN (SELECT value FROM json_each(:ids))
ORDER BY bm25(words, 8.0, 1.0, 3.0, 0.0), rowid DESC LIMIT :limit OFFSET :offset
"""
_SHARE: Final = "SELECT count(*) FROM words WHERE words MATCH ? AND rowid > ?"
_EVERY: Final = "SELECT id FROM documents ORDER BY id DESC LIMIT :limit OFFSET :offset"
_EVERY_SINCE: Final = """
SELECT id FROM documents
WHERE id >= (SELECT coalesce(min(first_id), 9e18) FROM days WHERE day >= :day) AND at_ms >= :since_ms
ORDER BY id DESC LIMIT :limit OFFSET :offset
"""
_EVER: Final = " WHERE words MATCH :text"
_SINCE: Final = """ JOIN documents ON documents.id = words.rowid
WHERE words MATCH :text AND words.rowid >= (SELECT coalesce(min(first_id), 9e18) FROM days WHERE day >= :day)
    AND documents.at_ms >= :since_ms"""


class IndexFile:
    """One SQLite file. One process may write (`apply`, `forget`), any number may search. Raises IndexUnavailable."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer: sqlite3.Connection | None = None
        self._readers: list[sqlite3.Connection] = []
        self._lock = threading.Lock()

    # --- the writer ---

    def create(self) -> None:
        """Creates the tables of a new file."""
        with self._errors():
            writer = self._opened()
            writer.executescript(f"BEGIN; {_SCHEMA}")
            self._put(writer, {"version": VERSION})
            writer.execute("COMMIT")

    def apply(self, changes: Changes, notes: dict[str, str]) -> None:
        """Stores and removes documents and sets notes, in one transaction; an unchanged document changes nothing."""
        with self._errors():
            writer = self._opened()
            writer.execute("BEGIN IMMEDIATE")
            try:
                for uid in changes.removed:
                    self._remove(writer, bytes.fromhex(uid))
                for document in {each["uid"]: each for each in changes.stored}.values():
                    self._store(writer, document)
                self._put(writer, notes)
            except BaseException:
                writer.execute("ROLLBACK")
                raise
            writer.execute("COMMIT")

    def forget(self, before: float, limit: int) -> int:
        """Removes at most `limit` documents fetched before a Unix time in a transaction; returns the number removed."""
        query = "SELECT uid FROM documents WHERE at_ms < ? ORDER BY id LIMIT ?"
        with self._errors():
            uids = [uid.hex() for (uid,) in self._opened().execute(query, (round(before * 1000), limit))]
        if uids:
            self.apply(Changes(removed=uids), {})
        return len(uids)

    def _opened(self) -> sqlite3.Connection:
        if self._writer is None:
            self._writer = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            self._writer.executescript(
                "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                "PRAGMA busy_timeout = 5000;"
            )
        return self._writer

    def _store(self, writer: sqlite3.Connection, document: RawContentRecord) -> None:
        uid, body = bytes.fromhex(document["uid"]), _packed(document)
        found = writer.execute("SELECT body FROM documents JOIN bodies USING (id) WHERE uid = ?", (uid,)).fetchone()
        if found is not None:
            if found[0] == body:
                return
            self._remove(writer, uid)
        at_ms = round(document["fetched_ts"] * 1000)
        key = writer.execute("INSERT INTO documents (uid, at_ms) VALUES (?, ?)", (uid, at_ms)).lastrowid
        writer.execute("INSERT INTO bodies VALUES (?, ?)", (key, body))
        writer.execute(
            "INSERT INTO words (rowid, title, text, people, labels) VALUES (?, ?, ?, ?, ?)", (key, *_columns(document))
        )
        writer.execute(
            "INSERT INTO days VALUES (?, ?)"
            " ON CONFLICT (day) DO UPDATE SET first_id = min(first_id, excluded.first_id)",
            (at_ms // _DAY_MS, key),
        )

    def _remove(self, writer: sqlite3.Connection, uid: bytes) -> None:
        found = writer.execute("SELECT id, body FROM documents JOIN bodies USING (id) WHERE uid = ?", (uid,)).fetchone()
        if found is None:
            return
        key, body = found
        writer.execute(
            "INSERT INTO words (words, rowid, title, text, people, labels) VALUES ('delete', ?, ?, ?, ?, ?)",
            (key, *_columns(_unpacked(body))),
        )
        writer.execute("DELETE FROM documents WHERE id = ?", (key,))
        writer.execute("DELETE FROM bodies WHERE id = ?", (key,))

    @staticmethod
    def _put(writer: sqlite3.Connection, notes: dict[str, str]) -> None:
        writer.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", notes.items())

    # --- readers ---

    def search(self, query: Query, filters: Filters, *, limit: int, offset: int = 0) -> list[RawContentRecord]:
        """The best matches among the last stored `CANDIDATES`, ranked by as many terms as there is time to count."""
        with self._errors(), self._reader() as reader:
            found = _with_beginnings(reader, query, filters, limit + offset)
            if found is not None:
                return found[offset:]
            return list(_documents(reader, _matching(reader, query, filters, limit=limit, offset=offset)))

    def count(self) -> int:
        """The number of documents."""
        with self._errors(), self._reader() as reader:
            return int(reader.execute("SELECT count(*) FROM documents").fetchone()[0])

    def note(self, name: str) -> str | None:
        """A note of the writer, as of its last transaction."""
        with self._errors(), self._reader() as reader:
            found = reader.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def is_current(self) -> bool:
        """True if the file has this version's tables; False also for a file that is no database."""
        try:
            with self._reader() as reader:
                found = reader.execute("SELECT value FROM meta WHERE name = 'version'").fetchone()
        except sqlite3.DatabaseError:
            return False
        return found is not None and found[0] == VERSION

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        """A connection that no other thread uses meanwhile; a statement that takes too long is interrupted."""
        with self._lock:
            reader = self._readers.pop() if self._readers else None
        if reader is None:
            reader = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
            reader.execute("PRAGMA busy_timeout = 1000")
        until = time.monotonic() + SEARCH_SEC
        reader.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
        try:
            yield reader
        except sqlite3.Error:
            reader.close()
            raise
        with self._lock:
            if len(self._readers) < _READERS:
                self._readers.append(reader)
                return
        reader.close()

    def close(self) -> None:
        """Closes all connections."""
        with self._lock:
            connections, self._readers = [*self._readers, self._writer], []
            self._writer = None
        for each in connections:
            if each is not None:
                each.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turns SQLite's errors into IndexUnavailable; an error in our own statements is raised unchanged."""
        try:
            yield
        except sqlite3.Error as error:
            code = _CODES.get((getattr(error, "sqlite_errorcode", None) or 0) & _PRIMARY)
            if code is None:
                raise
            raise IndexUnavailable(code, f"{self.path}: {error}") from error


def _matching(reader: sqlite3.Connection, query: Query, filters: Filters, *, limit: int, offset: int = 0) -> list[int]:
    """The best matches, by number."""
    labels = filters.labels()
    values: dict[str, str | int] = {"candidates": CANDIDATES, "limit": limit, "offset": offset}
    if filters.since is not None:
        since_ms = round(filters.since * 1000)
        values |= {"since_ms": since_ms, "day": since_ms // _DAY_MS}
    text = expression(query, labels)
    if not text:
        return _ids(reader, _EVERY if filters.since is None else _EVERY_SINCE, values)
    values |= {"text": text}
    since = _EVER if filters.since is None else _SINCE
    counted = parts(query, labels)
    chosen = affordable(_costs(reader, counted), COUNTED)
    ranked_by = ranking(chosen)
    if len(chosen) == len(counted):
        return _ids(reader, _BEST.format(since=since), values)
    if ranked_by is None:  # the last stored is first
        return _ids(reader, _LAST.format(since=since), values | {"candidates": limit + offset})[offset:]
    found = _ids(reader, _LAST.format(since=since), values)
    return _ranked(reader, found, ranked_by, limit=limit, offset=offset)


def _with_beginnings(
    reader: sqlite3.Connection, query: Query, filters: Filters, count: int
) -> list[RawContentRecord] | None:
    """The matches of a query with short beginnings of words, read from the documents that match its other terms.

    None if the index must be searched instead: it is small, no beginning is short, or few documents have them.
    """
    rest = without_short(query)
    if (
        rest == query
        or _is_small(_articles(reader), SHORT_COST)
        or (rest.excluded and not (rest.required or filters.labels()))
    ):
        return None
    limit = SCANNED + 2 * count
    candidates = _matching(reader, rest, filters, limit=limit)
    found: list[RawContentRecord] = []
    for document in _documents(reader, candidates):
        if fits(query, _columns(document)[:3]):
            found.append(document)
            if len(found) == count:
                return found
    return found if len(candidates) < limit else None


def _documents(reader: sqlite3.Connection, ids: Iterable[int]) -> Iterator[RawContentRecord]:
    """The documents with these numbers."""
    rows = (reader.execute("SELECT body FROM bodies WHERE id = ?", (id_,)).fetchone() for id_ in ids)
    return (_unpacked(row[0]) for row in rows if row is not None)


def _articles(reader: sqlite3.Connection) -> int:
    return int(reader.execute("SELECT coalesce(max(id), 0) FROM documents").fetchone()[0])


def _is_small(articles: int, cost: int) -> bool:
    """True if all words can be counted, however common they are."""
    return articles * cost <= COUNTED


def _costs(reader: sqlite3.Connection, counted: tuple[Part, ...]) -> Iterator[tuple[Part, float]]:
    """The number of words to read for counting the documents of each part, if that may be many by the last documents.

    bm25 counts the documents of each part of an expression, which takes most of the time of a search for common words.
    """
    articles = _articles(reader)
    is_small = _is_small(articles, sum(part.cost for part in counted))
    for part in counted:
        share = 1.0 if is_small else math.inf
        if not is_small and part.read is not None:
            share = reader.execute(_SHARE, (part.read, articles - _SAMPLE)).fetchone()[0] / _SAMPLE
            if share > _WEIGHTLESS and part.cost == 1:
                share = math.inf
        yield part, articles * part.cost * share


def _ids(reader: sqlite3.Connection, query: str, values: dict[str, str | int]) -> list[int]:
    return [id_ for (id_,) in reader.execute(query, values)]


def _ranked(reader: sqlite3.Connection, found: list[int], text: str, *, limit: int, offset: int) -> list[int]:
    """The best of the documents `found` (the last stored first) by bm25 of an expression."""
    if not found:
        return []
    values: dict[str, str | int] = {
        "ranked": text,
        "ids": json.dumps(found),
        "first": found[-1],
        "last": found[0],
        "limit": limit,
        "offset": offset,
    }
    return _ids(reader, _AMONG, values)


def _columns(document: RawContentRecord) -> tuple[str, str, str, str]:
    """The columns of the words' table for a document."""
    people = " ".join([*document["authors"], document["site_name"] or "", *document["categories"]])
    labels = " ".join(labels_of(document))
    return spaced(document["title"] or ""), spaced(document["text"]), spaced(people), labels


_DICTIONARY: Final = (
    b"der die und in den von zu das mit sich des auf ist im dem nicht ein eine als auch es an werden aus er hat dass "
    b"de la le et les des en un du une que est pour qui dans par plus el los las del se con una su para al lo como "
    b"a that is was for on with as by at from it be this are have not an which or but has were their they will said "
    b'"modified":null,"abstract":null,"image":"https://www.","authors":[],"feed_id":null,"entry_uid":"https://",'
    b'"fetch_id":"","site_name":"","language":"en","published":"2026-01-01T00:00:00Z",'
    b'"fetched_at":"2026-01-01T00:00:00.000Z","fetched_ts":179,"text_len":1,"content_hash":"","extractor":"prose",'
    b'"categories":[""],"category":"","host":"www.","source":null,"url":"https://www.","canonical_url":"https://www.",'
    b'"title":" the of and to in a ","text":" the of and to in '
)
"""Text from which the documents' compression starts: names of fields and frequent words. Part of `VERSION`."""


def _packed(document: RawContentRecord) -> bytes:
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    packer = zlib.compressobj(9, zdict=_DICTIONARY)
    return packer.compress(text.encode("utf-8", "replace")) + packer.flush()


def _unpacked(body: bytes) -> RawContentRecord:
    try:
        document: RawContentRecord = json.loads(zlib.decompressobj(zdict=_DICTIONARY).decompress(body))
    except (zlib.error, ValueError) as error:
        raise IndexUnavailable(DAMAGED, f"a stored document cannot be read: {error}") from error
    return document
