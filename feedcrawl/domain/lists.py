"""Lists of feeds: OPML (broken or not) and plain text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 256


def read_list(body: bytes) -> list[tuple[str, tuple[str, ...], str | None]]:
    """The feeds in a document as (URL, categories, title), in its order.

    OPML by its root, also where its XML is broken; its folders become categories. Anything else is text: one URL a
    line, after which categories may stand; `#` begins a comment.
    """
    start = body.lstrip(b"\xef\xbb\xbf \t\r\n")[:4096].lower()
    if b"<opml" in start or (start.startswith(b"<?xml") and b"<outline" in body.lower()):
        return list(_opml(body))
    return list(_text(body.decode("utf-8-sig", "replace")))


def _opml(body: bytes) -> Iterator[tuple[str, tuple[str, ...], str | None]]:
    # recover: what one bad entity or an unclosed outline breaks is that outline, not the list
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    root = etree.fromstring(re.sub(rb"&(?!#?\w{1,32};)", b"&amp;", body).strip(), parser)
    if root is None:
        return
    for outline in root.iter("{*}outline"):
        said = {str(name).lower(): str(value).strip() for name, value in outline.attrib.items()}
        url = said.get("xmlurl")
        if url:
            folders = [*_folders(outline), *(said.get("category") or "").split(",")]
            yield url, tuple(dict.fromkeys(filter(None, map(_category, folders)))), said.get("title") or said.get("text")


def _folders(outline: etree._Element) -> list[str]:
    names: list[str] = []
    for above in outline.iterancestors("{*}outline"):
        said = {str(name).lower(): str(value) for name, value in above.attrib.items()}
        if "xmlurl" not in said:
            names.append(said.get("text") or said.get("title") or "")
    return names[::-1][:MAX_DEPTH]


def _text(text: str) -> Iterator[tuple[str, tuple[str, ...], str | None]]:
    for line in text.splitlines():
        words = line.split("#", 1)[0].split() if not line.lstrip().startswith("http") else re.split(r"\s+#|\s+", line.strip())
        if words and words[0]:
            yield words[0], tuple(filter(None, map(_category, words[1:]))), None


def _category(name: str) -> str:
    return name.strip().strip("/").replace("/", "-")
