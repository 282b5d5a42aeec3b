"""The fields of a feed itself: RSS and CDF `channel`, Atom `feed`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.feeds.fields import places
from feedcrawl.domain.feeds.fields.persons import read_persons
from feedcrawl.domain.feeds.fields.readers import read_body, read_date, read_language, read_title
from feedcrawl.domain.feeds.formats.reading import MAX_NAME, MAX_PARTS
from feedcrawl.domain.http import hints
from feedcrawl.domain.models import Cloud, Paging, ParsedFeed
from feedcrawl.domain.publisher_hints import PublisherHints

if TYPE_CHECKING:
    from feedcrawl.domain.feeds.formats.node import Node
    from feedcrawl.domain.feeds.formats.reading import Reading
    from feedcrawl.domain.models import Link, Person

_TITLES = ("title", "dc:title", "itunes:title")
_DESCRIPTIONS = (
    "subtitle",
    "tagline",
    "description",
    "abstract",
    "dc:description",
    "itunes:summary",
    "googleplay:description",
    "itunes:subtitle",
)
_UPDATED = ("updated", "modified", "lastbuilddate", "dc:date", "dcterms:modified", "pubdate", "published")
_AUTHORS = (
    ("author", "dc:creator", "dc:author", "managingeditor"),
    ("itunes:author", "googleplay:author"),
    ("itunes:owner",),
    ("webmaster", "dc:publisher"),
)


def read_channel(node: Node, top: Node, reading: Reading) -> ParsedFeed:
    """The feed without format and entries. `top` is the root element, which contains the image in RSS 1.0."""
    links = places.read_links(node, reading)
    return ParsedFeed(
        format="",
        title=read_title(node.all(*_TITLES), reading),
        link=places.alternate(links) or reading.link(node.attribute("href"), node.base),
        description=read_body(node.all(*_DESCRIPTIONS)),
        language=read_language(node),
        updated=read_date(node, *_UPDATED) or parse_date(node.attribute("lastmod") or ""),
        image=places.read_image(top, reading) or places.read_image(node, reading) or _icon(node, reading),
        authors=reading.few(_authors(node, reading), "authors_truncated"),
        categories=reading.few(places.read_categories(node, reading), "categories_truncated"),
        generator=reading.capped(_generator(node), MAX_NAME, "generator_truncated"),
        self_url=places.related(links, "self"),
        hubs=tuple(link.href for link in links if link.rel == "hub")[:MAX_PARTS],
        cloud=_cloud(node),
        hints=_hints(node),
        paging=_paging(node, links),
    )


def _authors(node: Node, reading: Reading) -> list[Person]:
    """The authors of the feed, from the first group of elements that names any, the most specific group first."""
    return next((found for names in _AUTHORS if (found := read_persons(node, reading, *names))), [])


def _icon(node: Node, reading: Reading) -> str | None:
    child = node.first("icon")
    return reading.link(child.text(), child.base) if child else None


def _generator(node: Node) -> str | None:
    child = node.first("generator", "admin:generatoragent")
    return (child.text() or child.attribute("resource", "url", "uri")) if child else None


def _cloud(node: Node) -> Cloud | None:
    child = node.first("cloud")
    domain, path = (child.attribute("domain"), child.attribute("path")) if child else (None, None)
    if child is None or not domain or not path:
        return None
    port = child.attribute("port") or "80"
    number = int(port) if port.isascii() and port.isdigit() and len(port) < 6 else 0
    known = 0 < number < 65_536
    return Cloud(domain[:253], number, path[:1000], (child.attribute("protocol") or "").lower()) if known else None


def _hints(node: Node) -> PublisherHints:
    """The publisher's hints: RSS 2.0 `ttl`, `skipHours`, `skipDays`; RSS 1.0 Syndication module."""
    hours = (child.text() for group in node.all("skiphours") for child in group.all("hour"))
    days = (child.text() for group in node.all("skipdays") for child in group.all("day"))
    return PublisherHints(
        ttl_minutes=hints.ttl_minutes(node.value("ttl")),
        skip_hours=hints.skip_hours(hours),
        skip_days=hints.skip_days(days),
        update_period_sec=hints.update_period_sec(node.value("sy:updateperiod"), node.value("sy:updatefrequency")),
    )


def _paging(node: Node, links: list[Link]) -> Paging:
    """The links to other pages and archives of the same feed (RFC 5005)."""
    return Paging(
        next=places.related(links, "next"),
        prev_archive=places.related(links, "prev-archive"),
        complete=node.has("fh:complete"),
        archive=node.has("fh:archive"),
    )
