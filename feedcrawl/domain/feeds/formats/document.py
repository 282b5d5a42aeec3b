"""One feed document, from bytes to ParsedFeed."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from feedcrawl.domain.errors import NotAFeed
from feedcrawl.domain.feeds.fields.channel import read_channel
from feedcrawl.domain.feeds.fields.entry import read_entry
from feedcrawl.domain.feeds.formats import dialects, jsonfeed, lenient, xmltree
from feedcrawl.domain.feeds.formats.foreign import binary, refusal
from feedcrawl.domain.feeds.formats.node import Node
from feedcrawl.domain.feeds.formats.reading import Reading
from feedcrawl.domain.feeds.formats.repair import has_root
from feedcrawl.domain.http.encodings import decode

if TYPE_CHECKING:
    from feedcrawl.domain.models import ParsedEntry, ParsedFeed

_FEED_TYPE = re.compile(r"xml|rss|rdf|atom|json|cdf", re.IGNORECASE)


def parse(body: bytes, *, url: str, content_type: str | None = None) -> ParsedFeed:
    """The feed in `body`, fetched from `url`: RSS 0.90 … 2.0, RSS 1.0, Atom 0.3 and 1.0, JSON Feed, CDF.

    The body determines the format; of the content type only the charset counts. All links are absolute; texts of
    entries are HTML as published, not sanitised. Malformed documents are repaired where possible; `notes` has the codes
    of repairs and cuts. Raises NotAFeed, whose code is what the document is instead.
    """
    if refused := binary(body):
        raise refused
    decoded = decode(body, content_type)
    text = decoded.text.lstrip("\ufeff \t\r\n\0")
    if not text:
        raise NotAFeed("empty", "the document has no text")
    reading = Reading(url, decoded.notes)
    if content_type and not _FEED_TYPE.search(content_type):
        reading.note("wrong_content_type")
    feed = _json(text, reading) if text[0] in "{[" else _xml(text, reading)
    entries = tuple(_without_own_link(entry, reading) for entry in feed.entries)
    return replace(feed, entries=entries, encoding=decoded.encoding, notes=reading.notes)


def _without_own_link(entry: ParsedEntry, reading: Reading) -> ParsedEntry:
    """The entry, without its link if the link leads to the feed's own document, which is no article."""
    if entry.link is None or entry.link.partition("#")[0] != reading.url.partition("#")[0]:
        return entry
    reading.note("link_to_feed")
    return replace(entry, link=None)


def _json(text: str, reading: Reading) -> ParsedFeed:
    """The feed of a JSON Feed, or of an XML document after junk that begins like JSON."""
    try:
        return jsonfeed.read(text, reading)
    except NotAFeed as refused:
        if refused.code == "bad_json" and has_root(text):
            return _xml(text, reading)
        raise


def _xml(text: str, reading: Reading) -> ParsedFeed:
    root = xmltree.load(text, reading)
    kind = None if root is None else dialects.format_of(root)
    if root is None or kind is None:
        refused = refusal(text)
        found = lenient.read(text, reading) if refused.code == "xml" else None
        if found is None:
            raise refused
        return found
    top = Node(root, reading.url)
    channel = top.first("channel") or top
    entries = [
        Node(element, channel.base, channel.lang, has_base=channel.has_base)
        for element in dialects.entry_elements(root, reading)
    ]
    feed = read_channel(channel, top, reading)
    return replace(feed, format=kind, entries=tuple(read_entry(entry, reading, feed.link) for entry in entries))
