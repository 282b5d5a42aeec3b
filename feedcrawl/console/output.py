"""What a command writes: printable text, messages on standard error, and the exit status."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

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
    return "".join(each if each.isprintable() else " " for each in text)


def write(*lines: str) -> None:
    """Writes lines to standard output, made printable."""
    for line in lines:
        sys.stdout.write(f"{printable(line)}\n")


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
    """Writes a line to standard error; line breaks in quoted text are escaped."""
    sys.stderr.write(f"{program()} {command}: {printable(sentence)}\n")
