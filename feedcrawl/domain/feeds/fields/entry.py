"""One entry of a feed: RSS `item`, Atom `entry`, CDF `Item`, with the modules that publishers mix in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.feeds.fields import places
from feedcrawl.domain.feeds.fields.markup import first_image
from feedcrawl.domain.feeds.fields.persons import read_persons
from feedcrawl.domain.feeds.fields.readers import read_body, read_date, read_language, read_title
from feedcrawl.domain.feeds.formats.node import join
from feedcrawl.domain.feeds.formats.reading import MAX_ID, MAX_NAME
from feedcrawl.domain.models import Link, ParsedEntry

if TYPE_CHECKING:
    from feedcrawl.domain.feeds.formats.node import Node
    from feedcrawl.domain.feeds.formats.reading import Reading
    from feedcrawl.domain.models import Person

_TITLES = ("title", "dc:title", "itunes:title", "media:title")
_SUMMARIES = ("description", "summary", "abstract")
_OTHER_SUMMARIES = (
    "dc:description",
    "itunes:summary",
    "media:description",
    "googleplay:description",
    "itunes:subtitle",
)
_CONTENTS = ("content:encoded", "content", "xhtml:body", "body", "fullitem")
_PUBLISHED = ("pubdate", "published", "issued", "dcterms:issued", "dc:date", "created", "dcterms:created")
_UPDATED = ("updated", "modified", "dcterms:modified", "dc:date")

_PAGES = ("text/html", "application/xhtml+xml")
_PATH = re.compile(r"[^\s/]*(?:/[^\s/]+)+/?|[^\s/]+/")  # a permanent link that lacks its host
_ADDRESS = re.compile(r"\S*(?:[/#?:]|\.\w)\S*")  # some publishers state the number of comments, or their text
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def read_entry(node: Node, reading: Reading, site: str | None) -> ParsedEntry:
    """The entry of an element; `site` is the page that the feed names as its own."""
    links = places.read_links(node, reading)
    link = _page(node, links, reading)
    summary, content = _bodies(node, link or site)
    return ParsedEntry(
        native_id=_native_id(node, reading),
        link=link,
        links=reading.few(_with_page(links, link), "links_truncated"),
        title=read_title(node.all(*_TITLES), reading),
        summary=summary,
        content=content,
        authors=reading.few(_authors(node, reading), "authors_truncated"),
        categories=reading.few(places.read_categories(node, reading), "categories_truncated"),
        enclosures=reading.few(places.read_enclosures(node, reading), "enclosures_truncated"),
        published=read_date(node, *_PUBLISHED),
        updated=read_date(node, *_UPDATED) or parse_date(node.attribute("lastmod") or ""),
        published_raw=reading.capped(node.value(*_PUBLISHED), MAX_NAME, "date_truncated"),
        image=places.read_image(node, reading) or reading.link(first_image(content or summary), node.base),
        comments_url=_comments(node, links, reading),
        language=read_language(node),
        raw=etree.tostring(node.element, encoding="utf-8", with_tail=False),
    )


def _native_id(node: Node, reading: Reading) -> str | None:
    """The publisher's own identifier, as written."""
    text = node.value("guid") or _atom_id(node, reading) or node.attribute("about") or node.value("dc:identifier")
    return reading.capped(text or _sync_id(node), MAX_ID, "id_truncated")


def _sync_id(node: Node) -> str | None:
    """The identifier of an item that programs share (FeedSync and Simple Sharing Extensions, `sx:sync`)."""
    child = node.first("sx:sync")
    return child.attribute("id") if child else None


def _atom_id(node: Node, reading: Reading) -> str | None:
    """The Atom `id`. A relative id is resolved against a base that the publisher declares, never against the
    feed's URL, which may change.
    """
    child = node.first("id")
    text = child.text() if child else ""
    if child and text and child.base != reading.url and not _SCHEME.match(text):
        return join(child.base, text)
    return text or None


def _page(node: Node, links: list[Link], reading: Reading) -> str | None:
    """The page of the entry: its link, an identifier that is a URL (if `isPermaLink` allows), `rdf:about`, a page that
    holds its content (RFC 4287 section 4.1.3.2), `HREF`, its player.
    """
    if page := places.alternate(links):
        return page
    own = node.first("guid", "id")
    if own and _is_page(own) and (page := reading.link(own.text(), own.base)):
        return page
    about = node.attribute("about") or ""
    if _SCHEME.match(about) and (page := reading.link(about, node.base)):
        return page
    content = node.first("content")
    if content and (source := content.attribute("src")) and (content.attribute("type") or _PAGES[0]) in _PAGES:
        return reading.link(source, content.base)
    player = node.first("media:player")
    shown = player and reading.link(player.attribute("url"), player.base)
    return reading.link(node.attribute("href"), node.base) or shown or None


def _is_page(identifier: Node) -> bool:
    """True if an identifier is the URL of the page: an absolute URL, or a path that is declared as a permanent link."""
    declared, text = (identifier.attribute("ispermalink") or "").lower(), identifier.text()
    return declared != "false" and bool(_SCHEME.match(text) or (declared == "true" and _PATH.fullmatch(text)))


def _with_page(links: list[Link], page: str | None) -> list[Link]:
    """The links, with the page of the entry added if missing."""
    known = page is None or any(link.href == page for link in links)
    return links if known else [*links, Link(page or "", "alternate")]


def _bodies(node: Node, page: str | None) -> tuple[str | None, str | None]:
    """Summary and content; if an entry has several different summaries but no content, the second is the content."""
    texts = [text for child in node.in_order(*_SUMMARIES) if (text := read_body([child], page))]
    summary = texts[0] if texts else read_body(node.all(*_OTHER_SUMMARIES), page)
    second = next((text for text in texts[1:] if text != summary), None)
    return summary, read_body(node.all(*_CONTENTS), page) or second


def _authors(node: Node, reading: Reading) -> list[Person]:
    """The authors, else the podcast's, else those of the source from which the entry was copied (RFC 4287 4.2.1)."""
    source = node.first("source")
    return (
        read_persons(node, reading, "author", "dc:creator", "dc:author")
        or read_persons(node, reading, "itunes:author", "googleplay:author")
        or (read_persons(source, reading, "author") if source else [])
    )


def _comments(node: Node, links: list[Link], reading: Reading) -> str | None:
    """The page of comments: RSS `comments`, else Atom `rel=replies`."""
    child = node.first("comments")
    stated = child.text().strip() if child else ""
    page = reading.link(stated, child.base) if child and _ADDRESS.fullmatch(stated) else None
    return page or places.replies(links)
