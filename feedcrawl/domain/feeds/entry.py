"""One entry of a feed: RSS `item`, Atom `entry`, CDF `Item`, with the modules that publishers mix in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lxml import etree

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.feeds import markup, places
from feedcrawl.domain.feeds.markup import first_image
from feedcrawl.domain.feeds.node import join
from feedcrawl.domain.feeds.persons import read_persons
from feedcrawl.domain.feeds.reading import MAX_ID, MAX_TITLE
from feedcrawl.domain.models import Link, ParsedEntry

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from feedcrawl.domain.feeds.node import Node
    from feedcrawl.domain.feeds.reading import Reading

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
MAX_LANGUAGE: Final = 64
_PUBLISHED = ("pubdate", "published", "issued", "dcterms:issued", "dc:date", "created", "dcterms:created")
_UPDATED = ("updated", "modified", "dcterms:modified", "dc:date", "lastmod")
_TITLES = ("title", "dc:title", "itunes:title", "media:title")
_SUMMARIES = ("description", "summary", "abstract")
_OTHER_SUMMARIES = ("dc:description", "itunes:summary", "media:description")
_CONTENTS = ("content:encoded", "content", "xhtml:body", "body", "fullitem")


def read_entry(node: Node, reading: Reading) -> ParsedEntry:
    """The entry that an element holds."""
    raw = etree.tostring(node.element, encoding="utf-8", with_tail=False)
    links = places.read_links(node, reading)
    published_raw = node.value(*_PUBLISHED)
    native_id = read_id(node, reading)
    link = _link(node, links, reading)
    summary, content = _bodies(node)
    return ParsedEntry(
        native_id=native_id,
        link=link,
        links=reading.few(_with_page(links, link), "links_truncated"),
        title=read_title(node, reading, *_TITLES),
        summary=summary,
        content=content,
        authors=reading.few(read_authors(node, reading), "authors_truncated"),
        categories=reading.few(places.read_categories(node, reading), "categories_truncated"),
        enclosures=reading.few(places.read_enclosures(node, reading), "enclosures_truncated"),
        published=read_date(node, _PUBLISHED),
        updated=read_date(node, _UPDATED) or parse_date(node.attribute("lastmod") or ""),
        published_raw=published_raw,
        image=places.read_image(node, reading) or reading.link(first_image(content or summary), node.base),
        comments_url=_comments(node, links, reading),
        language=read_language(node),
        raw=raw,
    )


def read_title(node: Node, reading: Reading, *names: str) -> str | None:
    """The first title there is, as plain text."""
    titles = (markup.plain(markup.read(child)) for child in node.all(*names))
    return reading.capped(next(filter(None, titles), None), MAX_TITLE, "title_truncated")


def read_body(nodes: Iterable[Node]) -> str | None:
    """The first text there is, with absolute links."""
    return next(filter(None, (markup.absolute(markup.read(node), node.base) for node in nodes)), None)


def read_date(node: Node, names: Iterable[str]) -> datetime | None:
    """The first date that can be read."""
    texts = (child.text() for name in names for child in node.all(name))
    return next(filter(None, map(parse_date, texts)), None)


def read_language(node: Node) -> str | None:
    """The language tag in force, with hyphens (BCP 47)."""
    text = node.value("language", "dc:language") or node.lang or _language_of_texts(node)
    return text.replace("_", "-")[:MAX_LANGUAGE] if text else None


def _language_of_texts(node: Node) -> str | None:
    return next((child.lang for child in node.all("content", "summary", "title") if child.lang), None)


def read_id(node: Node, reading: Reading) -> str | None:
    """The publisher's own identifier, as written."""
    text = node.value("guid") or _atom_id(node, reading) or node.attribute("about") or node.value("dc:identifier")
    return reading.capped(text, MAX_ID, "id_truncated")


def _atom_id(node: Node, reading: Reading) -> str | None:
    """The `id`; a relative one is resolved if the publisher gave a base, never against a URL that may change."""
    child = node.first("id")
    text = child.text() if child else ""
    stated = child is not None and child.base != reading.url and not _SCHEME.match(text)
    return join(child.base, text) if child and text and stated else text or None


def read_authors(node: Node, reading: Reading) -> list:
    """The authors, or those of the entry's source (RFC 4287 section 4.2.1)."""
    found = read_persons(node, reading, "author", "dc:creator", "dc:author") or read_persons(
        node, reading, "itunes:author"
    )
    source = node.first("source")
    return found or (read_persons(source, reading, "author") if source else [])


def _bodies(node: Node) -> tuple[str | None, str | None]:
    """Summary and content; where an entry has both a description and a summary, the second is its content."""
    texts = [text for child in node.in_order(*_SUMMARIES) if (text := read_body([child]))]
    summary = texts[0] if texts else read_body(node.all(*_OTHER_SUMMARIES))
    second = next((text for text in texts[1:] if text != summary), None)
    return summary, read_body(node.all(*_CONTENTS)) or second


def _link(node: Node, links: list[Link], reading: Reading) -> str | None:
    """The page of the entry: its link, else an identifier that is a URL and does not deny being one, else `HREF`."""
    page = places.alternate(links)
    if page:
        return page
    own = node.first("guid", "id")
    if own and (own.attribute("ispermalink") or "true").lower() != "false" and _SCHEME.match(own.text()):
        return reading.link(own.text(), own.base)
    return reading.link(node.attribute("href"), node.base)


def _with_page(links: list[Link], page: str | None) -> list[Link]:
    """The links, with the page of the entry among them."""
    known = page is None or any(link.href == page for link in links)
    return links if known else [*links, Link(page or "", "alternate")]


def _comments(node: Node, links: list[Link], reading: Reading) -> str | None:
    child = node.first("comments")
    return (reading.link(child.text(), child.base) if child else None) or places.related(links, "replies")
