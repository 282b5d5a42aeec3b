"""Lists of feeds: OPML, broken or not, and plain text; and OPML as other programs read it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lxml import etree

from feedcrawl.domain.encodings import decode
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.feeds import xmltree
from feedcrawl.domain.feeds.inner import attributes_of
from feedcrawl.domain.feeds.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_FEEDS: Final = 10_000
MAX_CATEGORIES: Final = 20
MAX_CATEGORY: Final = 256  # characters

_OPML = re.compile(r"<(?:opml|outline)[\s>/]", re.IGNORECASE)
_COMMENT = re.compile(r"(?:^|\s)#.*")
_URL_LIKE = re.compile(r"(?:https?|feed):|[^\s/]+\.[^\s]", re.IGNORECASE)
# What XML 1.0 has no form for (section 2.2); lxml refuses to write it.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class ListedFeed:
    """A feed that a list names: its URL as written, the categories it has there, its title and its site."""

    url: str
    categories: tuple[str, ...] = ()
    title: str | None = None
    site_url: str | None = None


@dataclass(frozen=True, slots=True)
class FeedList:
    """The feeds of a list in its order; `left_out` is how many came after the limit."""

    feeds: tuple[ListedFeed, ...]
    left_out: int = 0


def read_list(body: bytes, *, limit: int | None = MAX_FEEDS) -> FeedList:
    """The feeds that a document lists, at most `limit`; Refusal (`not_a_list`, `empty_list`) if it is none.

    OPML 1.0 and 2.0 (opml.org/spec2.opml) in any encoding, also where its XML is broken; folders and the `category`
    attribute become categories. Anything else is text: a URL a line, after which categories may stand; `#` begins a
    comment.
    """
    text = decode(body).text.lstrip("\ufeff \t\r\n\0")
    found = list(_opml(text) if _OPML.search(text, 0, 100_000) else _text(text))
    if not found:
        raise Refusal("empty_list", "no feed is in the list")
    kept = found if limit is None else found[:limit]
    return FeedList(tuple(kept), len(found) - len(kept))


def write_opml(feeds: Iterable[ListedFeed], title: str = "Feeds") -> bytes:
    """An OPML 2.0 document: each feed in the folder of its first category, all its categories in `category`."""
    root = etree.Element("opml", version="2.0")
    etree.SubElement(etree.SubElement(root, "head"), "title").text = _writable(title)
    body = etree.SubElement(root, "body")
    folders: dict[str, etree._Element] = {}
    for feed in feeds:
        above = body
        if feed.categories:
            name = _writable(feed.categories[0])
            above = folders.get(name, body)
            if above is body:
                above = folders[name] = etree.SubElement(body, "outline", text=name, title=name)
        etree.SubElement(above, "outline", _attributes(feed))
    return etree.tostring(root, xml_declaration=True, encoding="utf-8", pretty_print=True)


def _attributes(feed: ListedFeed) -> dict[str, str]:
    said = {
        "type": "rss",  # whatever the format is: "rss" is what readers look for (OPML 2.0, subscription lists)
        "text": feed.title or feed.url,
        "title": feed.title,
        "xmlUrl": feed.url,
        "htmlUrl": feed.site_url,
        "category": ",".join(feed.categories),
    }
    return {name: _writable(value) for name, value in said.items() if value}


def _opml(text: str) -> Iterator[ListedFeed]:
    root = xmltree.load(text, Reading(""))
    if root is None:
        return
    folders: list[str] = []
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if not isinstance(element.tag, str) or etree.QName(element).localname.lower() != "outline":
            continue
        said = {name.lower(): value.strip() for name, value in attributes_of(element)}
        url, name = said.get("xmlurl"), said.get("text") or said.get("title")
        if event == "end":
            folders.pop()
            continue
        folders.append("" if url else name or "")
        if url:
            categories = _categories([*folders, *(said.get("category") or "").split(",")])
            yield ListedFeed(url, categories, said.get("title") or name or None, said.get("htmlurl") or None)


def _text(text: str) -> Iterator[ListedFeed]:
    lines = [words for line in text.splitlines() if (words := _COMMENT.sub("", line).split())]
    if lines and (text[0] in "<{[" or not any(_URL_LIKE.match(words[0]) for words in lines)):
        raise Refusal("not_a_list", f"neither OPML nor a URL a line; it begins with {text[:60]!r}")
    for url, *categories in lines:
        yield ListedFeed(url, _categories(categories))


def _categories(names: Iterable[str]) -> tuple[str, ...]:
    """Each once; `/news/world`, the path of OPML 2.0, is one name, since others use categories in keys and paths."""
    clean = (" ".join(name.split()).strip("/").replace("/", "-")[:MAX_CATEGORY] for name in names)
    return tuple(dict.fromkeys(filter(None, clean)))[:MAX_CATEGORIES]


def _writable(text: str) -> str:
    return _FORBIDDEN.sub("", text)
