"""The work of `scrapy export`: writes records or the index of the archive to a file or standard output."""

from __future__ import annotations

import codecs
import sys
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE, say
from feedcrawl.console.stores import on
from feedcrawl.hints import missing
from feedcrawl.services.archive import capture, exports
from feedcrawl.services.articles import files
from feedcrawl.wiring.stores import Stores

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable
    from typing import BinaryIO

    Write = Callable[[BinaryIO], int]

KINDS = ("articles", "entries")
INDEX = "cdxj"
FORMATS = tuple(exports.WRITERS)
SUFFIXES = {"jsonl": "ndjson", "pq": "parquet"}
"""Suffixes of files that are another name of a format."""


@on(Stores)
def run(wired: Stores, args: list[str], opts: Namespace) -> int:
    """Writes the records; their number goes to standard error."""
    if len(args) != 1 or args[0] not in (*KINDS, INDEX):
        raise UsageError(f"say what to export: {', '.join(KINDS)} or {INDEX}", print_help=False)
    kind, since, until = args[0], _day("--since", opts.since), _day("--until", opts.until)
    if opts.to is not None:
        say("export", f"{_into_database(wired, kind, opts, since, until)} {kind} written to table {kind}")
        return DONE
    write = _index(wired, opts, since, until) if kind == INDEX else _records(wired, kind, opts, since, until)
    try:
        if opts.output is None:
            count = write(sys.stdout.buffer)
        else:
            with exports.whole_file(Path(opts.output)) as out:
                count = write(out)
    except ModuleNotFoundError as error:
        raise ValueError(missing(error, "parquet")) from error
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise ValueError(f"{opts.output} cannot be written: {error}") from error
    say("export", f"{count} {'captures' if kind == INDEX else kind}")
    return DONE


def _records(wired: Stores, kind: str, opts: Namespace, since: date | None, until: date | None) -> Write:
    """A function that writes the records of the days."""
    form = _format(opts.format, opts.output)
    lines = wired.article_lines if kind == "articles" else wired.entry_lines
    stored = exports.records(lines, exports.KEYS[kind], since, until, every_version=opts.every_version)
    found = files.resolved(stored, wired.file_lines)
    if opts.bom and form != "csv":
        raise UsageError("--bom is for CSV", print_help=False)
    head = codecs.BOM_UTF8 if opts.bom else b""

    def write(out: BinaryIO) -> int:
        out.write(head)
        return exports.WRITERS[form](found, exports.columns_of(kind), out)

    return write


def _into_database(wired: Stores, kind: str, opts: Namespace, since: date | None, until: date | None) -> int:
    """Writes the records into a database; returns their number."""
    if kind == INDEX or opts.output or opts.format or opts.bom or opts.every_version:
        detail = "--to takes the last version of articles or entries: leave -o, --format, --bom, --every-version out"
        raise UsageError(detail, print_help=False)
    try:
        from feedcrawl.services.archive import databases  # noqa: PLC0415 - needs an extra
    except ModuleNotFoundError as error:
        raise ValueError(missing(error, "sql")) from error
    key = exports.KEYS[kind]
    lines = wired.article_lines if kind == "articles" else wired.entry_lines
    found = files.resolved(exports.records(lines, key, since, until), wired.file_lines)
    return databases.write(found, kind, exports.columns_of(kind), key, opts.to)


def _index(wired: Stores, opts: Namespace, since: date | None, until: date | None) -> Write:
    """A function that writes the index of the days."""
    if opts.format or opts.every_version:
        raise UsageError(
            "a CDXJ index has one form, and every capture is in it: leave --format and --every-version out",
            print_help=False,
        )

    def write(out: BinaryIO) -> int:
        with closing(capture.opened(wired.config.data_dir)) as store:
            return exports.write_lines(exports.replay_index(store, since, until), out)

    return write


def _format(given: str | None, output: str | None) -> str:
    suffix = Path(output).suffix.lstrip(".").lower() if output else "ndjson"
    form = given or SUFFIXES.get(suffix, suffix)
    if form not in FORMATS:
        raise UsageError(f"--format is one of {', '.join(FORMATS)}, not {form!r}", print_help=False)
    if form == "parquet" and output is None:
        raise UsageError("a Parquet file needs a name: -o FILE", print_help=False)
    return form


def _day(option: str, text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} takes a day such as 2026-11-28, not {text!r}", print_help=False) from None
