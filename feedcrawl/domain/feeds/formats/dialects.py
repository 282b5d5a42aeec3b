"""Which format a document is in, and where its entries stand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.feeds.formats.inner import attributes_of
from feedcrawl.domain.feeds.formats.names import ATOM_SPACES, bare_space, local_of, name_of, space_of
from feedcrawl.domain.feeds.formats.reading import MAX_ENTRIES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from lxml.etree import _Element

    from feedcrawl.domain.feeds.formats.reading import Reading

_RSS = {"0.90": "rss0.90", "0.91": "rss0.91", "0.92": "rss0.92", "0.93": "rss0.93", "0.94": "rss0.94"}
_ENTRIES = frozenset({"item", "entry"})
_HOLDERS = frozenset({"channel", "items", "feed", "rss", "rdf:rdf"})
_DATES = frozenset({"pubdate", "published", "updated", "dc:date", "issued", "modified"})


def format_of(root: _Element) -> str | None:
    """The format by its root element; None if that is no feed's."""
    local, space = local_of(str(root.tag)).lower(), space_of(str(root.tag))
    version = (root.get("version") or "").strip()
    if local == "rss":
        return _rss_version(version)
    if local == "rdf":
        return _rdf_version(root)
    if local == "feed":
        return {"www.w3.org/2005/atom": "atom1.0", "purl.org/atom/ns": "atom0.3"}.get(space, _atom_version(version))
    if local == "channel":
        return _channel_format(root, space)
    if local == "entry" and space in ATOM_SPACES:  # an Atom Entry Document (RFC 4287 section 2)
        return "atom1.0"
    return None


def _rss_version(version: str) -> str:
    if version in _RSS:
        return _RSS[version]
    return "rss2.0" if version.startswith("2") else "rss"


def _atom_version(version: str) -> str:
    return f"atom{version}" if re.fullmatch(r"[0-9.]{1,5}", version) else "atom"


def _rdf_version(root: _Element) -> str | None:
    """RSS 0.90 or 1.0 by the namespaces in use; RDF of another kind is no feed."""
    spaces = {bare_space(uri) for uri in root.nsmap.values()}
    names = {name_of(str(child.tag)) for child in root.iterchildren(etree.Element)}
    if any(space.endswith("netscape.com/rdf/simple/0.9") for space in spaces):
        return "rss0.90"
    return "rss1.0" if "purl.org/rss/1.0" in spaces or names & (_ENTRIES | _HOLDERS) else None


def _channel_format(root: _Element, space: str) -> str | None:
    """RSS 1.1, CDF, or an RSS channel that lost its root."""
    if space == "purl.org/net/rss1.1":
        return "rss1.1"
    names = {name_of(str(child.tag)) for child in root.iterchildren(etree.Element)}
    attributes = {name.lower() for name, _ in attributes_of(root)}
    if "abstract" in names or "href" in attributes or root.tag == "CHANNEL":
        return "cdf"
    return "rss" if names & {"title", "link", "item", "description"} else None


def entry_elements(root: _Element, reading: Reading) -> list[_Element]:
    """The elements of all entries in their order; the newest `MAX_ENTRIES` if there are more.

    Which end is the newer one is read from the first and the last date, not from every entry.
    """
    found = [root] if name_of(str(root.tag)) in _ENTRIES else list(_walk(root)) or _anywhere(root)
    if len(found) <= MAX_ENTRIES:
        return found
    reading.note("entries_truncated")
    first, last = _date(found[0]), _date(found[-1])
    return found[-MAX_ENTRIES:] if first and last and last > first else found[:MAX_ENTRIES]


def _walk(parent: _Element) -> Iterator[_Element]:
    for child in parent.iterchildren(etree.Element):
        name = name_of(str(child.tag))
        if name in _ENTRIES:
            yield child
        elif name in _HOLDERS:
            yield from _walk(child)


def _anywhere(root: _Element) -> list[_Element]:
    """Entries in holders of an unknown name."""
    return [element for element in root.iter(etree.Element) if name_of(str(element.tag)) in _ENTRIES]


def _date(element: _Element) -> datetime | None:
    texts = (child.text or "" for child in element.iterchildren(etree.Element) if name_of(str(child.tag)) in _DATES)
    return next(filter(None, map(parse_date, texts)), None)
