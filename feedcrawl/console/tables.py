"""Tables for a terminal or a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from feedcrawl.console.output import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PIPE_WIDTH: Final = 10_000
"""Columns of a table that is not written to a terminal: a program that reads a pipe needs whole URLs."""


def write_table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Writes a row per line; text from the web is shown as text, without markup or control characters."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False).print(table)
