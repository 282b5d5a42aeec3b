"""State of parsing one document: its URL, the limits, and the notes on tolerated faults."""

from __future__ import annotations

import re
from typing import Final, TypeVar
from urllib.parse import urljoin, urlsplit

from feedcrawl.domain.urls import once_escaped

MAX_ENTRIES: Final = 5_000
MAX_TITLE: Final = 1_000  # characters
MAX_NAME: Final = 256
MAX_ID: Final = 2_083
MAX_URL: Final = 2_083
MAX_PARTS: Final = 100  # number of authors, categories, links, and enclosures of one feed or entry, each

T = TypeVar("T")

_ABSOLUTE = re.compile(r"https?://[^\s/?#\\\[]", re.IGNORECASE)
_NO_HOST = re.compile(r"https?:/*$", re.IGNORECASE)
_INVISIBLE = "\u00a0\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff \t\r\n"
_WWW = re.compile(r"www\.[\w-]+\.\w", re.IGNORECASE)
_SCHEME_AND_HOST = re.compile(r"\A(https?)(?::/?|:?//+)(?=(?:[\w-]+\.)+\w)", re.IGNORECASE)
_BREAKS = re.compile(r"[\t\r\n]+\s*")


class Reading:
    """One document while it is parsed. `notes` are the codes of tolerated faults and of cuts, in order, each once."""

    def __init__(self, url: str, notes: tuple[str, ...] = ()) -> None:
        self.url = url
        self._notes = dict.fromkeys(notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """The codes of tolerated faults and of cuts, each once."""
        return tuple(self._notes)

    def note(self, code: str) -> None:
        """Add the code of a fault to the notes."""
        self._notes[code] = None

    def mended(self, step: tuple[str, list[str]]) -> str:
        """The text of a repair step; the codes of its repairs are added to the notes."""
        text, codes = step
        for code in codes:
            self.note(code)
        return text

    def capped(self, text: str | None, limit: int, code: str) -> str | None:
        """The text, cut at `limit` characters (then `code` is noted); None for empty text."""
        if not text:
            return None
        if len(text) > limit:
            self.note(code)
            return text[:limit]
        return text

    def few(self, items: list[T], code: str) -> tuple[T, ...]:
        """The first `MAX_PARTS` items; `code` is noted if there were more."""
        if len(items) > MAX_PARTS:
            self.note(code)
        return tuple(items[:MAX_PARTS])

    def link(self, reference: str | None, base: str) -> str | None:
        """The absolute http(s) URL of a reference; None if it is no such URL, or if it is too long (which is noted).

        An ampersand that was escaped twice is an ampersand. A URL is never cut, since a cut URL is a different URL. A
        fragment alone gives None: it leads to the feed document itself. A mistyped beginning is mended (`link_mended`).
        """
        text = once_escaped(reference.strip()) if reference else ""
        if text and not _ABSOLUTE.match(text):
            text, written = _mended(text), text
            if text != written:
                self.note("link_mended")
        if not text or text[0] == "#":
            return None
        if len(text) <= MAX_URL:
            text = _BREAKS.sub("", text)
            text = text if _ABSOLUTE.match(text) else _absolute(text, base)
        if len(text) > MAX_URL:
            self.note("url_too_long")
            return None
        return text or None


def _mended(reference: str) -> str:
    """The reference without CDATA marks and invisible characters around it, and with the `://` of an absolute URL.

    No path of a site begins with `www.` or with a scheme and a host: `http:///a.test/1`, `https//a.test/1`.
    """
    bare = reference.strip(_INVISIBLE)
    bare = bare.removeprefix("<![CDATA[").removesuffix("]]>").strip() if bare.startswith("<![CDATA[") else bare
    if _WWW.match(bare):
        return f"//{bare}"
    return _SCHEME_AND_HOST.sub(r"\1://", bare)


def _absolute(reference: str, base: str) -> str:
    """The reference resolved against the base; "" if the result is no http(s) URL."""
    try:
        url = urljoin(base, reference)
        parts = urlsplit(url)
    except ValueError:
        return ""
    usable = reference and parts.scheme in {"http", "https"} and parts.netloc and not _NO_HOST.match(reference)
    return url if usable else ""
