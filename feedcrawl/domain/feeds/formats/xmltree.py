"""XML text to a tree, safe for hostile text: no DTD, no entities except HTML's, no network, bounded depth and size."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from lxml import etree

from feedcrawl.domain.feeds.formats import repair
from feedcrawl.domain.feeds.formats.balance import balance
from feedcrawl.domain.feeds.formats.names import name_of
from feedcrawl.domain.feeds.formats.vocabulary import ENTRIES, ROOTS

if TYPE_CHECKING:
    from lxml.etree import _Element

    from feedcrawl.domain.feeds.formats.reading import Reading

_WINDOWS = re.compile(r"[\x80-\x9f]|&#(?:1[2-5][0-9]|[xX][89][0-9a-fA-F]);")

_STRUCTURE = frozenset(f"?:{name}" for name in ROOTS | ENTRIES)


def load(text: str, reading: Reading) -> _Element | None:
    """The root element; None if there is none. A repair step is taken only if the text cannot be parsed without it."""
    body = reading.mended(repair.body_of(text))
    root = None if _WINDOWS.search(body) else _parse(body)
    if root is None:
        body = reading.mended(repair.declare_prefixes(reading.mended(repair.mend_characters(body))))
        root = _parse(body)
    if root is None:
        body = reading.mended(repair.declare_prefixes(reading.mended(balance(body))))
        root = _parse(body, recover=True)
    return None if root is None else _adopt(root)


def _parse(text: str, *, recover: bool = False) -> _Element | None:
    parser = etree.XMLParser(
        encoding="utf-8",
        recover=recover,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _adopt(root: _Element) -> _Element:
    """The tree without an unknown namespace of its structural elements, since feeds use invented or old namespaces."""
    for element in (root, *root.iterchildren(etree.Element)):
        if name_of(str(element.tag)) in _STRUCTURE:
            _drop_space(root, str(element.tag).rpartition("}")[0] + "}")
            break
    return root


def _drop_space(root: _Element, space: str) -> None:
    for element in root.iter(f"{space}*"):
        with suppress(ValueError):  # libxml2's recovery accepts names that lxml refuses to set
            element.tag = str(element.tag).removeprefix(space)
