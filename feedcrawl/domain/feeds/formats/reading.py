"""What one reading of a document keeps in mind: where it came from, its limits, and what it had to forgive."""

from __future__ import annotations

import re
from typing import Final, TypeVar
from urllib.parse import urljoin, urlsplit

MAX_ENTRIES: Final = 5_000
MAX_TITLE: Final = 1_000  # characters
MAX_NAME: Final = 256
MAX_ID: Final = 2_083
MAX_URL: Final = 2_083
MAX_PARTS: Final = 100  # authors, categories, links, enclosures of one feed or entry, each

T = TypeVar("T")

_ABSOLUTE = re.compile(r"https?://[^\s/?#\\\[]", re.IGNORECASE)
_NO_HOST = re.compile(r"https?:/*$", re.IGNORECASE)
_BREAKS = re.compile(r"[\t\r\n]+\s*")


class Reading:
    """One document being read. `notes` are reason codes of what was forgiven or cut, in order, each once."""

    def __init__(self, url: str, notes: tuple[str, ...] = ()) -> None:
        self.url = url
        self._notes = dict.fromkeys(notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """The codes of what was forgiven or cut, each once."""
        return tuple(self._notes)

    def note(self, code: str) -> None:
        """Remember a fault by its code."""
        self._notes[code] = None

    def mended(self, step: tuple[str, list[str]]) -> str:
        """The text that a step of mending came to; what it mended is noted."""
        text, codes = step
        for code in codes:
            self.note(code)
        return text

    def capped(self, text: str | None, limit: int, code: str) -> str | None:
        """The text, cut at `limit` characters with a note; None for empty text."""
        if not text:
            return None
        if len(text) > limit:
            self.note(code)
            return text[:limit]
        return text

    def few(self, items: list[T], code: str) -> tuple[T, ...]:
        """The first `MAX_PARTS` items, with a note if there were more."""
        if len(items) > MAX_PARTS:
            self.note(code)
        return tuple(items[:MAX_PARTS])

    def link(self, reference: str | None, base: str) -> str | None:
        """The absolute http(s) URL that a reference means; None for others, and with a note for those too long.

        A URL is never cut: half of it is another URL. A fragment alone leads nowhere: to the document that has it.
        """
        text = reference.strip() if reference else ""
        if not text or text[0] == "#":
            return None
        if len(text) <= MAX_URL:
            text = _BREAKS.sub("", text)
            text = text if _ABSOLUTE.match(text) else _absolute(text, base)
        if len(text) > MAX_URL:
            self.note("url_too_long")
            return None
        return text or None


def _absolute(reference: str, base: str) -> str:
    """The reference resolved against the base, or "" if that is no http(s) URL."""
    try:
        url = urljoin(base, reference)
        parts = urlsplit(url)
    except ValueError:
        return ""
    usable = reference and parts.scheme in {"http", "https"} and parts.netloc and not _NO_HOST.match(reference)
    return url if usable else ""
