"""The last resort: feedparser, for documents that have entries but whose structure our own parsers do not recognise."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any, Final

import feedparser

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.feeds.fields import markup
from feedcrawl.domain.feeds.fields.places import number
from feedcrawl.domain.feeds.formats.reading import MAX_ENTRIES, MAX_ID, MAX_NAME, MAX_TITLE
from feedcrawl.domain.feeds.formats.vocabulary import ENTRIES
from feedcrawl.domain.models import Enclosure, ParsedEntry, ParsedFeed, Person

if TYPE_CHECKING:
    from feedcrawl.domain.feeds.formats.reading import Reading

MAX_CHARACTERS: Final = 500_000  # feedparser reads a quarter of a megabyte per second

# Errors that feedparser raises on hostile input, and errors of the same kind.
_FEEDPARSER_ERRORS = (AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_HAS_ENTRY = re.compile(rf"<(?:\w+:)?(?:{'|'.join(sorted(ENTRIES))})[\s>]", re.IGNORECASE)
# feedparser's pattern for addresses takes quadratic time, so that the elements in which it looks for addresses are cut.
_LONG_PERSON = re.compile(
    r"(<(?:[\w-]+:)?(?:author|creator|contributor|publisher|managingeditor|webmaster|owner|name|email)\b[^<>]*>"
    rf"[^<]{{{MAX_NAME}}})[^<]+",
    re.IGNORECASE,
)


def read(text: str, reading: Reading) -> ParsedFeed | None:
    """The feed that feedparser finds in `text`; None if no entry has a title, link or identifier."""
    if len(text) > MAX_CHARACTERS or not 0 < len(_HAS_ENTRY.findall(text)) <= MAX_ENTRIES:
        return None
    body = io.BytesIO(_LONG_PERSON.sub(r"\1", text).encode("utf-8", "replace"))
    headers = {"content-location": reading.url, "content-type": "application/xml; charset=utf-8"}
    try:
        parsed: Any = feedparser.parse(body, response_headers=headers, sanitize_html=False)
    except _FEEDPARSER_ERRORS:
        return None
    found = [entry for entry in parsed.entries if entry.keys() & {"title", "link", "id"}]
    if not found:
        return None
    reading.note("structure_unknown")
    return ParsedFeed(
        format=parsed.get("version") or "rss",
        title=_title(parsed.feed, reading),
        link=reading.link(parsed.feed.get("link"), reading.url),
        description=parsed.feed.get("subtitle"),
        language=parsed.feed.get("language"),
        entries=tuple(_entry(entry, reading) for entry in found),
    )


def _entry(entry: Any, reading: Reading) -> ParsedEntry:
    content = entry.get("content") or [{}]
    return ParsedEntry(
        native_id=reading.capped(entry.get("id"), MAX_ID, "id_truncated"),
        link=reading.link(entry.get("link"), reading.url),
        title=_title(entry, reading),
        summary=entry.get("summary"),
        content=content[0].get("value"),
        authors=reading.few(_persons(entry), "authors_truncated"),
        categories=reading.few([tag.term for tag in entry.get("tags", ()) if tag.get("term")], "categories_truncated"),
        enclosures=reading.few(_enclosures(entry, reading), "enclosures_truncated"),
        published=parse_date(entry.get("published") or ""),
        updated=parse_date(entry["updated"]) if dict.get(entry, "updated") else None,
        published_raw=entry.get("published"),
    )


def _title(holder: Any, reading: Reading) -> str | None:
    plain = markup.plain(markup.Text(holder.get("title") or "", "guess"))
    return reading.capped(plain, MAX_TITLE, "title_truncated")


def _persons(entry: Any) -> list[Person]:
    named = ((person.get("name"), person.get("email"), person.get("href")) for person in entry.get("authors", ()))
    return [Person(*person) for person in named if any(person)]


def _enclosures(entry: Any, reading: Reading) -> list[Enclosure]:
    found = ((reading.link(item.get("href"), reading.url), item) for item in entry.get("enclosures", ()))
    return [Enclosure(url, item.get("type"), number(item.get("length"))) for url, item in found if url]
