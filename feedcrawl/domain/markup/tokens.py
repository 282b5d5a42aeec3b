"""Start tags of a document, read without a tree."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_ATTRIBUTE = r"""[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>"'][^\s>]*+)?)?"""
_TOKEN = re.compile(
    r"<!--(?:-?>|.*?--!?>|.*\Z)"
    r"|<(?:[!?]|/(?![a-z]))[^>]*+(?:>|\Z)"
    rf"|<(?P<name>/?[a-z][^\s/>]*+)(?P<attributes>(?:[\s/]++|{_ATTRIBUTE})*+)(?:>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_NAMED = re.compile(_ATTRIBUTE, re.DOTALL)
RAW_TEXT = frozenset({"script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"})
"""Elements without markup in them, for browsers and for libxml2 (from 2.14)."""
_REFERENCE = re.compile(r"&(?:#\w{1,8}|\w{1,32});")


def start_tags(text: str, names: set[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Start tags with these names and their attributes, except inside elements that browsers read as raw text.

    A name with a slash (`/noscript`) stands for end tags. The tokens are those of browsers (WHATWG HTML section
    13.2.5), and the cost is linear at any depth of nesting.
    """
    position = 0
    while token := _TOKEN.search(text, position):
        position = token.end()
        name = (token["name"] or "").lower()
        if name in RAW_TEXT:
            position = _raw_text_end(text, name, position)
        elif name in names:
            yield name, _attributes(token["attributes"])


def _raw_text_end(text: str, name: str, start: int) -> int:
    end = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(text, start)
    return end.start() if end else len(text)


def _attributes(text: str) -> dict[str, str]:
    """Attributes by lower-case name, the first of each name. Character references need their semicolon."""
    found: dict[str, str] = {}
    for attribute in _NAMED.findall(text):
        name, _, value = attribute.partition("=")
        value = value.strip()
        bare = value[1:].removesuffix(value[0]) if value[:1] in {'"', "'"} else value
        found.setdefault(name.strip().lower(), _REFERENCE.sub(lambda reference: unescape(reference[0]), bare))
    return found
