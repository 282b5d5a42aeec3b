"""Authors: elements with name, address and URI, and the one-line forms of RSS."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from feedcrawl.domain.feeds.formats.reading import MAX_NAME
from feedcrawl.domain.models import Person

if TYPE_CHECKING:
    from feedcrawl.domain.feeds.formats.node import Node
    from feedcrawl.domain.feeds.formats.reading import Reading

_EMAIL = re.compile(r"(?:mailto:)?[\w.!#$%&'*+/=?^{|}~-]+@[\w-]+(?:\.[\w-]+)*", re.ASCII)
_BRACKETS = re.compile(r"\(\s*\)|<\s*>|\[\s*\]")


def read_persons(node: Node, reading: Reading, *names: str) -> list[Person]:
    """The authors from the children with these names, in order."""
    found = [_person(child, reading) for child in node.all(*names)]
    return [person for person in found if person is not None]


def _person(node: Node, reading: Reading) -> Person | None:
    if not len(node.element):
        return from_line(node.text(), reading)
    name = reading.capped(node.value("name", "foaf:name", "?:name"), MAX_NAME, "author_truncated")
    email = reading.capped(node.value("email", "itunes:email"), MAX_NAME, "author_truncated")
    name = name or reading.capped(node.value("itunes:name"), MAX_NAME, "author_truncated")
    place = node.first("uri", "url", "homepage")
    uri = reading.link(place.text(), place.base) if place else None
    if name is None and email is None and uri is None:
        return from_line(node.text(), reading)
    return Person(name, email, uri)


def from_line(line: str, reading: Reading) -> Person | None:
    """The person of a line: `Jane Doe`, `jane@a.example (Jane Doe)`, `Jane Doe <jane@a.example>`, `jane@a.example`.

    The line is cut before it is searched, because patterns for addresses take quadratic time on hostile lines.
    """
    text = reading.capped(" ".join(line[: 4 * MAX_NAME].split()), MAX_NAME, "author_truncated")
    if not text:
        return None
    match = _EMAIL.search(text)
    if not match:
        return Person(name=text)
    rest = _BRACKETS.sub("", text[: match.start()] + text[match.end() :]).strip()
    if rest.startswith("(") and rest.endswith(")"):
        rest = rest[1:-1]
    name = rest.strip(' ,;:<>"-')
    return Person(name or None, match[0].removeprefix("mailto:"))
