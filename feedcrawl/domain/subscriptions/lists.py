"""Reads lists of feeds: OPML (well-formed or broken), plain text, CSV and JSON."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from lxml import etree

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.feeds.formats import xmltree
from feedcrawl.domain.feeds.formats.inner import attributes_of
from feedcrawl.domain.feeds.formats.reading import Reading
from feedcrawl.domain.http.encodings import decode
from feedcrawl.domain.subscriptions.list_tables import csv_delimiter, read_csv, read_json
from feedcrawl.domain.subscriptions.listed import FeedList, ListedFeed, categories_of, letters, overrides_of
from feedcrawl.domain.urls import once_escaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_OPML = re.compile(r"<(?:opml|outline)[\s>/]", re.IGNORECASE)
_WORD = re.compile(r'"([^"]*)"|(#.*)|(\S+)')
_ELEMENT = re.compile(r"<(opml|body|outline)\b", re.IGNORECASE)
_URL_LIKE = re.compile(r"(?:https?|feeds?|pcast|itpc):|[^\s/]+\.[^\s]", re.IGNORECASE)


def read_list(body: bytes, *, limit: int | None = None) -> FeedList:
    """The feeds that a document lists, the first `limit` of them (None: all).

    Raises Refusal for a document that is no list (`not_a_list`) or has no feed (`empty_list`).

    OPML 1.0 and 2.0 (opml.org/spec2.opml) is read in any encoding, even if its XML is broken; folders and the
    `category` attribute become categories. JSON and CSV with a header are read as in `list_tables`. Other documents
    are read as text: one URL on each line, optionally followed by categories, quoted if they contain spaces; `#` begins
    a comment.
    """
    text = decode(body).text.lstrip("\ufeff \t\r\n\0")
    found = _merged(_feeds(text))
    if not found:
        raise Refusal("empty_list", "the list contains no feed")
    kept = found if limit is None else found[:limit]
    return FeedList(tuple(kept), len(found) - len(kept))


def _merged(feeds: Iterable[ListedFeed]) -> list[ListedFeed]:
    """The feeds, each URL once: a feed in two folders has the categories of both."""
    found: dict[str, ListedFeed] = {}
    for feed in feeds:
        first = found.setdefault(feed.url, feed)
        if first is not feed:
            found[feed.url] = replace(first, categories=categories_of((*first.categories, *feed.categories)))
    return list(found.values())


def _feeds(text: str) -> Iterator[ListedFeed]:
    if _OPML.search(text, 0, 100_000):
        return _opml(text)
    if text[:1] in {"{", "["}:
        return read_json(text)
    delimiter = csv_delimiter(text)
    return read_csv(text, delimiter) if delimiter else _text(text)


def _opml(text: str) -> Iterator[ListedFeed]:
    first = _ELEMENT.search(text)
    if first and first[1].lower() == "outline":  # a part of a list; a parser would end after its first outline
        text = f"<opml>{text[first.start() :]}</opml>"
    root = xmltree.load(text, Reading(""))
    if root is None:
        return
    folders: list[str] = []
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if not isinstance(element.tag, str) or etree.QName(element).localname.lower() != "outline":
            continue
        named = sorted(attributes_of(element), key=_is_plain)  # namespaced attributes first: OPML's own override them
        attributes = {letters(name): value.strip() for name, value in named}
        url, name = _feed_url(attributes), attributes.get("text") or attributes.get("title")
        if event == "end":
            folders.pop()
            continue
        folders.append("" if url else name or "")
        if url:
            categories = categories_of([*folders, *(attributes.get("category") or "").split(",")])
            title, site = attributes.get("title") or name, attributes.get("htmlurl") or None
            title = title if title and title != url else None
            yield ListedFeed(once_escaped(url), categories, title, site, overrides_of(attributes))


def _feed_url(attributes: dict[str, str]) -> str | None:
    """The URL of an outline: `xmlUrl`, or `url` as some programs write it, unless it is a link or inclusion."""
    is_link = attributes.get("type", "").lower() in ("link", "include")
    return attributes.get("xmlurl") or (None if is_link else attributes.get("url")) or None


def _is_plain(attribute: tuple[str, str]) -> bool:
    return not {"}", ":"} & set(attribute[0])


def _text(text: str) -> Iterator[ListedFeed]:
    lines = [words for line in text.splitlines() if (words := _words(line))]
    if lines and (text[0] == "<" or not any(_URL_LIKE.match(words[0]) for words in lines)):
        raise Refusal(
            "not_a_list", f"expected OPML, JSON, CSV or one URL on each line; the text begins with {text[:60]!r}"
        )
    for url, *categories in lines:
        yield ListedFeed(url, categories_of(categories))


def _words(line: str) -> list[str]:
    words: list[str] = []
    for quoted, comment, word in _WORD.findall(line):
        if comment:
            break
        words.append(quoted or word)
    return words
