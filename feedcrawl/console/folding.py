"""Lines for a narrow terminal: words stay whole, and only an address that is too long for a line is shortened."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from feedcrawl.domain.operations.display import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

_STYLE: Final = re.compile(r"\x1b\[\d*m")
"""A control sequence that sets the style of the text after it (ECMA-48, SGR), and takes no column."""
_ADDRESS: Final = re.compile(r"\w+://")
_COLUMN: Final = re.compile(r".*\S {2,}(?=\S)")
_INDENT: Final = 2


def folded(line: str, width: int) -> Iterator[str]:
    """The line in as many lines as it needs; those after the first are indented as its last column, as itself, or by
    two.
    """
    if _size(line) <= width:
        yield line
        return
    column = _COLUMN.match(line[: width // 2])
    margin = " " * (_size(column[0]) if column else len(line) - len(line.lstrip()) or _INDENT)
    shown = ""
    for gap, word in re.findall(r"(\s*)(\S+)", line):
        longest = width - len(margin)
        fits = shortened(word, longest) if _ADDRESS.match(word) and _size(word) > longest else word
        if shown.strip() and _size(shown + gap + fits) > width:
            yield shown
            shown = margin + fits
        else:
            shown += gap + fits
    yield shown


def _size(text: str) -> int:
    return columns_of(_STYLE.sub("", text))


def columns_of(text: str) -> int:
    """The number of columns that a text takes on a terminal."""
    return len(text) if text.isascii() else cell_len(text)
