"""Feeds as feedparser reads them."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import feedparser

from feedcrawl.domain.errors import NotAFeed
from feedcrawl.domain.models import Enclosure, Link, ParsedEntry, ParsedFeed, Person, PublisherHints


def read(text: str, url: str) -> ParsedFeed:
    """The feed in `text`; raises NotAFeed where feedparser finds none."""
    parsed = feedparser.parse(
        io.BytesIO(text.encode("utf-8", "replace")),
        response_headers={"content-location": url, "content-type": "application/xml; charset=utf-8"},
        sanitize_html=False,
        resolve_relative_uris=True,
    )
    if not parsed.get("version") and not parsed.entries:
        raise NotAFeed("not_a_feed", str(parsed.get("bozo_exception", "nothing found")))
    feed = parsed.feed
    links = feed.get("links", [])
    return ParsedFeed(
        format=parsed.version,
        title=feed.get("title"),
        link=feed.get("link"),
        description=feed.get("subtitle"),
        language=feed.get("language"),
        updated=_instant(feed.get("updated_parsed")) if "updated" in feed else None,
        image=_image(feed) or feed.get("logo"),
        authors=_persons(feed),
        categories=tuple(tag["term"] for tag in feed.get("tags", []) if tag.get("term")),
        generator=feed.get("generator"),
        self_url=next((link.get("href") for link in links if link.get("rel") == "self"), None),
        hubs=tuple(link["href"] for link in links if link.get("rel") == "hub" and link.get("href")),
        entries=tuple(_entry(entry) for entry in parsed.entries),
        hints=PublisherHints(ttl_minutes=_number(feed.get("ttl"))),
    )


def _entry(entry: Any) -> ParsedEntry:
    content = entry.get("content") or [{}]
    return ParsedEntry(
        native_id=entry.get("id"),
        link=entry.get("link"),
        links=tuple(
            Link(x["href"], x.get("rel"), x.get("type"), x.get("title"))
            for x in entry.get("links", [])
            if x.get("href")
        ),
        title=entry.get("title"),
        summary=entry.get("summary"),
        content=content[0].get("value"),
        authors=_persons(entry),
        categories=tuple(tag["term"] for tag in entry.get("tags", []) if tag.get("term")),
        enclosures=tuple(
            Enclosure(x["href"], x.get("type"), _number(x.get("length")))
            for x in entry.get("enclosures", [])
            if x.get("href")
        ),
        published=_instant(entry.get("published_parsed")),
        updated=_instant(entry.get("updated_parsed")) if "updated" in entry else None,
        published_raw=entry.get("published"),
        image=_image(entry),
        comments_url=entry.get("comments"),
        language=entry.get("language"),
    )


def _instant(parsed: Any) -> datetime | None:
    try:
        return datetime(*parsed[:6], tzinfo=UTC) if parsed else None
    except ValueError:
        return None


def _number(text: object) -> int | None:
    return int(str(text)) if str(text).strip().isdigit() else None


def _persons(item: Any) -> tuple[Person, ...]:
    found = [person for person in item.get("authors", []) if person]
    return tuple(Person(person.get("name"), person.get("email"), person.get("href")) for person in found)


def _image(item: Any) -> str | None:
    image = item.get("image") or {}
    return image.get("href") or image.get("url")
