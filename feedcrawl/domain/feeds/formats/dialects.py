"""The format of a document, and the elements of its entries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.feeds.formats.inner import attributes_of
from feedcrawl.domain.feeds.formats.names import bare_space, local_of, name_of, space_of
from feedcrawl.domain.feeds.formats.reading import MAX_ENTRIES
from feedcrawl.domain.feeds.formats.vocabulary import DIALECTS, ENTRIES, HOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from lxml.etree import _Element

    from feedcrawl.domain.feeds.formats.reading import Reading
    from feedcrawl.domain.feeds.formats.vocabulary import Dialect

_HOLDERS = frozenset("rdf:rdf" if name == "rdf" else name for name in HOLDERS)
_DATES = frozenset({"pubdate", "published", "updated", "dc:date", "issued", "modified"})


def format_of(root: _Element) -> str | None:
    """The format by the root element; None if the root belongs to no dialect."""
    local = local_of(str(root.tag)).lower()
    return next((_named(row, root) for row in DIALECTS if row.root == local and _shows(row, root)), None)


def _named(row: Dialect, root: _Element) -> str:
    return row.format.format(version=_version(root))


def _shows(row: Dialect, root: _Element) -> bool:
    """True if a document with this root shows all signs of the dialect."""
    if row.version and not re.fullmatch(row.version, _version(root)):
        return False
    found = [bare_space(uri) for uri in root.nsmap.values()] if row.declared else [space_of(str(root.tag))]
    if row.spaces and not any(space.endswith(row.spaces) for space in found):
        return False
    return not row.marks or not _marks(root).isdisjoint(row.marks)


def _version(root: _Element) -> str:
    return (root.get("version") or "").strip()


def _marks(root: _Element) -> set[str]:
    children = {name_of(str(child.tag)) for child in root.iterchildren(etree.Element)}
    return children | {f"@{name.lower()}" for name, _ in attributes_of(root)} | {str(root.tag)}


def entry_elements(root: _Element, reading: Reading) -> list[_Element]:
    """The elements of all entries in document order; the newest `MAX_ENTRIES` if there are more.

    The first and the last date decide which end is newer, not the dates of all entries.
    """
    found = [root] if name_of(str(root.tag)) in ENTRIES else list(_walk(root)) or _anywhere(root)
    if len(found) <= MAX_ENTRIES:
        return found
    reading.note("entries_truncated")
    first, last = _date(found[0]), _date(found[-1])
    return found[-MAX_ENTRIES:] if first and last and last > first else found[:MAX_ENTRIES]


def _walk(parent: _Element) -> Iterator[_Element]:
    for child in parent.iterchildren(etree.Element):
        name = name_of(str(child.tag))
        if name in ENTRIES:
            yield child
        if name in ENTRIES or name in _HOLDERS:  # an entry that was never closed contains those after it
            yield from _walk(child)


def _anywhere(root: _Element) -> list[_Element]:
    """The entries anywhere in a document, for documents with unknown elements around their entries."""
    return [element for element in root.iter(etree.Element) if name_of(str(element.tag)) in ENTRIES]


def _date(element: _Element) -> datetime | None:
    texts = (child.text or "" for child in element.iterchildren(etree.Element) if name_of(str(child.tag)) in _DATES)
    return next(filter(None, map(parse_date, texts)), None)
