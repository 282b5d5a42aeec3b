"""What a command writes: printable text, messages on standard error, and the exit status."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Final, TextIO

from feedcrawl.console.folding import folded
from feedcrawl.domain.secrets import without_secrets
from feedcrawl.hints import program

if TYPE_CHECKING:
    from collections.abc import Iterable

DONE: Final = 0
FAILED: Final = 1
"""Redis, disk or a pipeline failed."""
UNUSABLE: Final = 2
"""No argument was usable, or the settings were not."""


def printable(value: object) -> str:
    """Text for a terminal or a pipe, without secrets of URLs, line breaks and control characters."""
    text = "" if value is None else without_secrets(str(value))
    return text if text.isprintable() else "".join(each if each.isprintable() else " " for each in text)


def write(*lines: str) -> None:
    """Writes lines to standard output, made printable, and folded if a terminal is narrower."""
    for line in lines:
        write_folded(printable(line), sys.stdout)


def write_folded(line: str, stream: TextIO) -> None:
    """Writes a printable line; on a terminal in as many lines as it needs, in a pipe whole."""
    width = terminal_width(stream)
    stream.writelines(f"{part}\n" for part in ((line,) if width is None else folded(line, width)))


def terminal_width(stream: TextIO) -> int | None:
    """Columns of the terminal that a stream writes to; None if it is a pipe or a file."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def write_json(value: object) -> None:
    """Writes a JSON value in a line, for programs."""
    sys.stdout.write(f"{json.dumps(value)}\n")


def json_array(values: Iterable[object]) -> str:
    """A JSON array, one value per line."""
    return "[" + ",\n".join(map(json.dumps, values)) + "]\n"


def brief(value: object, longest: int) -> str:
    """The JSON of a value, of at most so many characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def say(command: str, sentence: str) -> None:
    """Writes a sentence to standard error; line breaks in quoted text are escaped."""
    write_folded(f"{program()} {command}: {printable(sentence)}", sys.stderr)
