"""XML text to a tree, never trusting it: no DTD, no entities but HTML's, no network, bounded depth and size."""

from __future__ import annotations

import re

from lxml import etree

from feedcrawl.domain.feeds import repair

_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>", re.IGNORECASE)
_HAS_DOCTYPE = re.compile(r"<!DOCTYPE", re.IGNORECASE)


def load(text: str, note) -> etree._Element | None:
    """The root element, or None if there is none. `note` is told the code of each repair."""
    body, found = repair.body_of(text)
    for code in found:
        note(code)
    root = _strict(body)
    if root is not None:
        return root
    mended, found = repair.mend_characters(body)
    for code in found:
        note(code)
    root = _strict(mended)
    if root is not None:
        return root
    balanced, found = repair.balance(mended)
    for code in found:
        note(code)
    return _strict(balanced, recover=True)


def _strict(text: str, *, recover: bool = False) -> etree._Element | None:
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
