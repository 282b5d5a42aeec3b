"""Removes e-mail addresses of feed authors from stored records. Ids, texts and the archive stay as published."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.models import Person

if TYPE_CHECKING:
    from collections.abc import Iterable

    from feedcrawl.domain.models import ParsedEntry, ParsedFeed

STAND_IN: Final = "redacted@redacted.invalid"
"""Replaces an address in an entry's markup, where one may be required (RFC 2606 section 2 reserves the name)."""
_AT: Final = r"(?:[@\uff20]|%40|&#0*64;|&#x0*40;|&commat;|\s?[\[({]\s?at\s?[\])}]\s?)"
_DOT: Final = r"(?:\.|%2e|\s?[\[({]\s?(?:dot|punkt)\s?[\])}]\s?)"
_LOCAL: Final = r"\w.!#$%*+^`|~-"
# The match begins at the start of a word and is bounded, so that time is linear in a hostile text. `/@ann@b.test` is a
# handle, not an address.
_ADDRESS: Final = re.compile(
    rf"(?:\b(?:mailto|acct|xmpp|sip):)?(?<![@{_LOCAL}])[{_LOCAL}]{{1,256}}?{_AT}[\w-]{{1,63}}(?:{_DOT}[\w-]{{1,63}}){{1,10}}",
    re.IGNORECASE,
)
_BRACKETS: Final = re.compile(r"\(\s*\)|<\s*>|\[\s*\]")


def without_addresses(text: str, instead: str = "") -> str:
    """The text with `instead` in place of each e-mail address, also of one whose @ is written in another way."""
    return _ADDRESS.sub(instead, text)


def redacted(person: Person) -> Person | None:
    """The author without addresses; None if neither a name nor a page is left."""
    name = _name(person.name) if person.name else None
    uri = None if person.uri and _ADDRESS.search(person.uri) else person.uri
    return Person(name, None, uri) if name or uri else None


def redact(feed: ParsedFeed) -> ParsedFeed:
    """The feed without the addresses of its authors, in the entries' raw markup too."""
    return replace(feed, authors=_persons(feed.authors), entries=tuple(map(_entry, feed.entries)))


def _entry(entry: ParsedEntry) -> ParsedEntry:
    raw = entry.raw
    if raw is not None:
        raw = without_addresses(raw.decode("utf-8", "surrogateescape"), STAND_IN).encode("utf-8", "surrogateescape")
    return replace(entry, authors=_persons(entry.authors), raw=raw)


def _persons(authors: Iterable[Person]) -> tuple[Person, ...]:
    return tuple(person for author in authors if (person := redacted(author)) is not None)


def _name(text: str) -> str | None:
    """The name alone, from forms such as `a@b.test (Name)` and `Name <a@b.test>`; None if there is no name."""
    rest = without_addresses(text)
    if rest == text:
        return text
    rest = _BRACKETS.sub("", rest).strip()
    if rest.startswith("(") and rest.endswith(")"):
        rest = rest[1:-1]
    return rest.strip(' ,;:<>"-') or None
