"""Tables for a terminal or a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from feedcrawl.console.output import printable
from feedcrawl.domain.operations.display import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_GAP: Final = 2
"""Spaces between two columns."""
_LEAST: Final = 12
"""The least width of a column that is cut."""
_PIPE_WIDTH: Final = 10_000
"""Columns of a table that is not written to a terminal: a program that reads a pipe needs whole URLs."""


def write_table(names: Sequence[str], rows: Iterable[Sequence[object]], *, cut: Sequence[str] = ()) -> None:
    """Writes a row per line; text from the web is shown as text, without markup or control characters.

    On a terminal, the cells of the columns `cut` are shortened in their middle, so that each row is one line.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False)
    longest = fitting(names, cells, cut, console.width)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    for row in cells:
        table.add_row(
            *(Text(shortened(cell, longest.get(name, len(cell)))) for name, cell in zip(names, row, strict=True))
        )
    console.print(table)


def terminal_width() -> int | None:
    """Columns of the terminal on standard output; None if it is a pipe or a file."""
    return Console().width if sys.stdout.isatty() else None


def fitting(names: Sequence[str], rows: Sequence[Sequence[str]], cut: Sequence[str], width: int) -> dict[str, int]:
    """The characters that each column of `cut` may have, so that a row fits `width`; columns of `cut` that are short
    leave their room to the longer ones.
    """
    widths = {name: max([len(name), *(len(row[at]) for row in rows)]) for at, name in enumerate(names)}
    room = width - _GAP * (len(names) - 1) - sum(size for name, size in widths.items() if name not in cut)
    found: dict[str, int] = {}
    for number, name in enumerate(sorted(cut, key=widths.__getitem__)):
        share = max(_LEAST, (room - sum(found.values())) // (len(cut) - number))
        found[name] = min(widths[name], share)
    return found
