"""Link headers (RFC 8288): the targets that a response names, with their relations and types."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_LINKS: Final = 8
MAX_LINK_CHARS: Final = 2_048
"""Link headers read, and characters read of each: a sender may send any number of them, of any length."""

_PART = re.compile(
    r"""<([^<>]*)>|;[ \t]*(rel|type)[ \t]*=[ \t]*(?:"([^"]*)"|([^\s",;]+))|"(?:[^"\\]|\\.)*\"""", re.IGNORECASE
)
"""A link target, a relation or type of the target before it, or another quoted string."""


@dataclass(frozen=True, slots=True)
class HeaderLink:
    """A target as written, its relations in lower case, and its media type in lower case ("" if none is given)."""

    target: str
    rels: tuple[str, ...] = ()
    type: str = ""


def header_links(values: Iterable[str]) -> Iterator[HeaderLink]:
    """The links in the values of Link headers, in order."""
    for value in islice(values, MAX_LINKS):
        yield from _links(value[:MAX_LINK_CHARS])


def _links(value: str) -> Iterator[HeaderLink]:
    target: str | None = None
    rels: tuple[str, ...] = ()
    kind = ""
    for found in _PART.finditer(value):
        if found[1] is not None:
            if target is not None:
                yield HeaderLink(target, rels, kind)
            target, rels, kind = found[1].strip(), (), ""
        elif target is not None and found[2]:
            text = (found[3] or found[4] or "").lower()
            if found[2].lower() == "rel":
                rels = (*rels, *text.split())
            else:
                kind = text.partition(";")[0].strip()
    if target is not None:
        yield HeaderLink(target, rels, kind)
