"""Tables for a terminal or a pipe."""

from __future__ import annotations

import sys
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from rich.cells import chop_cells

from feedcrawl.console.folding import columns_of
from feedcrawl.console.output import printable, terminal_width
from feedcrawl.domain.operations.display import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_GAP: Final = 2
"""Spaces between two columns."""
_LEAST: Final = 12
"""The least width of a column that is cut or folded."""
_PIPE_WIDTH: Final = 10_000
"""Columns of a table that is not written to a terminal: a program that reads a pipe needs whole URLs."""


def write_table(names: Sequence[str], rows: Iterable[Sequence[object]], *, cut: Sequence[str] = ()) -> None:
    """Writes a row per line; text from the web is shown as text, without control characters.

    On a terminal, the cells of the columns `cut` are shortened in their middle, so that each row is one line; where
    the others are too wide as well, their cells go on in further lines, and a row of too many columns is a list.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    width = terminal_width(sys.stdout) or _PIPE_WIDTH
    sys.stdout.writelines(f"{line}\n" for line in lines_of(names, cells, cut, width))


def lines_of(names: Sequence[str], cells: Sequence[Sequence[str]], cut: Sequence[str], width: int) -> Iterator[str]:
    """The lines of a table: an empty line, the names of the columns, a rule, the rows, an empty line."""
    longest = fitting(names, cells, cut, width)
    shown = [
        [_cut(cell, longest[name]) if name in longest else cell for name, cell in zip(names, row, strict=True)]
        for row in cells
    ]
    widths = _widths(names, shown)
    if sum(widths) + _GAP * (len(names) - 1) > width:
        widest = fitting(names, shown, names, width)
        widths = [min(size, widest[name]) for name, size in zip(names, widths, strict=True)]
    if sum(widths) + _GAP * (len(names) - 1) > width:
        yield from _as_lists(names, cells)
        return
    yield ""
    yield from _lines(names, widths)
    yield "─" * min(width, sum(widths) + _GAP * (len(names) - 1))
    for row in shown:
        yield from _lines(row, widths)
    yield ""


def _as_lists(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Each row as a list of its cells, a line for each with the name of its column."""
    longest = max(map(columns_of, names))
    yield ""
    for row in rows:
        yield from (f"{name:<{longest}}  {cell}".rstrip() for name, cell in zip(names, row, strict=True))
        yield ""


def _widths(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(columns_of, column)) for column in zip(names, *rows, strict=True)]


def _cut(cell: str, longest: int) -> str:
    width = columns_of(cell)
    return cell if width <= longest else shortened(cell, longest * len(cell) // width)


def _lines(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """A row as a line, or as several if a cell is wider than its column."""
    spaces = [size - columns_of(cell) for cell, size in zip(row, widths, strict=True)]
    if min(spaces) >= 0:
        yield _joined(row, spaces)
        return
    folded = [
        [cell] if space >= 0 else chop_cells(cell, size) for cell, space, size in zip(row, spaces, widths, strict=True)
    ]
    for parts in zip_longest(*folded, fillvalue=""):
        yield _joined(parts, [size - columns_of(part) for part, size in zip(parts, widths, strict=True)])


def _joined(cells: Sequence[str], spaces: Sequence[int]) -> str:
    """The cells as a line, each with its spaces behind it."""
    return (" " * _GAP).join([cell + " " * space for cell, space in zip(cells, spaces, strict=True)]).rstrip()


def fitting(names: Sequence[str], rows: Sequence[Sequence[str]], cut: Sequence[str], width: int) -> dict[str, int]:
    """The characters that each column of `cut` may have, so that a row fits `width`; columns of `cut` that are short
    leave their room to the longer ones.
    """
    widths = dict(zip(names, _widths(names, rows), strict=True))
    room = width - _GAP * (len(names) - 1) - sum(size for name, size in widths.items() if name not in cut)
    found: dict[str, int] = {}
    for number, name in enumerate(sorted(cut, key=widths.__getitem__)):
        share = max(_LEAST, (room - sum(found.values())) // (len(cut) - number))
        found[name] = min(widths[name], share)
    return found
