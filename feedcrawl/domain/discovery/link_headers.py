"""Link headers (RFC 8288): the targets that a response names, with their relations and types."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_HEADERS: Final = 20
MAX_HEADER_CHARS: Final = 8_192
"""Link headers read, and characters read of each: a sender may send any number of them, of any length."""

_PART = re.compile(
    r"""<([^<>]*)>|;[ \t]*(rel|type|title)[ \t]*=[ \t]*(?:"([^"]*)"|([^\s",;]+))|"(?:[^"\\]|\\.)*+(?:"|\Z)""",
    re.IGNORECASE,
)
"""A link target, a relation, type or title of the target before it, or another quoted string, closed or not."""


@dataclass(frozen=True, slots=True)
class HeaderLink:
    """A target and its title as written, its relations and its media type in lower case; "" where none is given."""

    target: str
    rels: tuple[str, ...] = ()
    type: str = ""
    title: str = ""


def header_links(values: Iterable[str]) -> Iterator[HeaderLink]:
    """The links in the values of Link headers, in order."""
    for value in islice(values, MAX_HEADERS):
        yield from _links(value[:MAX_HEADER_CHARS])


def _links(value: str) -> Iterator[HeaderLink]:
    link: HeaderLink | None = None
    for found in _PART.finditer(value):
        if found[1] is not None:
            if link is not None:
                yield link
            link = HeaderLink(found[1].strip())
        elif link is not None and found[2]:
            link = _with_parameter(link, found[2].lower(), found[3] or found[4] or "")
    if link is not None:
        yield link


def _with_parameter(link: HeaderLink, name: str, text: str) -> HeaderLink:
    """The link with a parameter; of a repeated name the first counts (RFC 8288 sections 3.3 to 3.4.1)."""
    if name == "rel":
        return link if link.rels else replace(link, rels=tuple(text.lower().split()))
    if name == "type":
        return link if link.type else replace(link, type=text.lower().partition(";")[0].strip())
    return link if link.title else replace(link, title=text)
