"""Logins of private feeds as they are given to a command: in words, or in files that other users cannot read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.subscriptions.access import read_headers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from feedcrawl.domain.subscriptions.access import Header


def headers_of(words: Iterable[str]) -> tuple[Header, ...]:
    """The request headers in words: `USER:PASSWORD`, `NAME: VALUE`, or `@FILE` with a line for each (`@-`: standard
    input). Raises Refusal (`bad_header`, `file_unreadable`).
    """
    return tuple(header for word in words for header in read_headers(_text(word)))


def _text(word: str) -> str:
    if not word.startswith("@"):
        return word
    if word == "@-":
        return sys.stdin.read()
    try:
        return Path(word[1:]).expanduser().read_text()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise Refusal("file_unreadable", f"{word[1:]} cannot be read: {reason}") from error
