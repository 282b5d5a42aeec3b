"""Authors: elements with name, address and URI, and the one-line forms of RSS."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from feedcrawl.domain.feeds.fields.markup import label
from feedcrawl.domain.feeds.formats.reading import MAX_NAME
from feedcrawl.domain.models import Person

if TYPE_CHECKING:
    from feedcrawl.domain.feeds.formats.node import Node
    from feedcrawl.domain.feeds.formats.reading import Reading

_EMAIL = re.compile(r"(?:mailto:)?[\w.!#$%&'*+/=?^{|}~-]+@[\w-]+(?:\.[\w-]+)*", re.ASCII)
_BETWEEN = re.compile(r"\s*[,;/]\s*")
_BRACKETS = re.compile(r"\(\s*\)|<\s*>|\[\s*\]")


def read_persons(node: Node, reading: Reading, *names: str) -> list[Person]:
    """The authors from the children with these names, in order."""
    return [person for child in node.all(*names) for person in _persons(child, reading)]


def _persons(node: Node, reading: Reading) -> list[Person]:
    if not len(node.element):
        return _from_line(label(node.text()), reading)
    name = reading.capped(label(node.value("name", "foaf:name", "?:name") or ""), MAX_NAME, "author_truncated")
    email = reading.capped(node.value("email", "itunes:email"), MAX_NAME, "author_truncated")
    name = name or reading.capped(node.value("itunes:name"), MAX_NAME, "author_truncated")
    place = node.first("uri", "url", "homepage")
    uri = reading.link(place.text(), place.base) if place else None
    if name is None and email is None and uri is None:
        return _from_line(node.plain(), reading)
    return [Person(name, email, uri)]


def _from_line(line: str, reading: Reading) -> list[Person]:
    """The persons of a line: `Jane Doe`, `jane@a.example (Jane Doe)`, `Jane Doe <jane@a.example>`, `jane@a.example`.

    It has several if each part between commas, semicolons or slashes has an address of its own. The line is cut before
    it is searched, because patterns for addresses take quadratic time on hostile lines.
    """
    text = reading.capped(" ".join(line[: 4 * MAX_NAME].split()), MAX_NAME, "author_truncated")
    parts = _BETWEEN.split(text or "")
    if len(parts) > 1 and all(map(_EMAIL.search, parts)):
        return [_from_part(part) for part in parts]
    return [_from_part(text)] if text else []


def _from_part(text: str) -> Person:
    match = _EMAIL.search(text)
    if not match:
        return Person(name=text)
    rest = _BRACKETS.sub("", text[: match.start()] + text[match.end() :]).strip()
    if rest.startswith("(") and rest.endswith(")"):
        rest = rest[1:-1]
    name = rest.strip(' ,;:<>"-')
    return Person(name or None, match[0].removeprefix("mailto:"))
