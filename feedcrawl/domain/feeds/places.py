"""Links, enclosures, images and categories of a feed or an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.feeds.reading import MAX_NAME
from feedcrawl.domain.models import Enclosure, Link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from feedcrawl.domain.feeds.node import Node
    from feedcrawl.domain.feeds.reading import Reading

_PLAYABLE = ("audio", "video")


def number(text: str | None) -> int | None:
    """A count in ASCII digits, or None."""
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def read_links(node: Node, reading: Reading) -> list[Link]:
    """All `link` elements: with `href` as in Atom, or with a URL as text as in RSS (relation "alternate")."""
    found = []
    for child in node.all("link"):
        reference = child.attribute("href")
        href = reading.link(reference or child.text(), child.base)
        if href:
            rel = (child.attribute("rel") or "alternate").lower()
            found.append(Link(href, rel.rpartition("/")[2], child.attribute("type"), child.attribute("title")))
    return found


def related(links: list[Link], rel: str) -> str | None:
    """The target of the first link of a relation."""
    return next((link.href for link in links if link.rel == rel), None)


def alternate(links: list[Link]) -> str | None:
    """The page that a feed or entry stands for: the first `alternate`, one of HTML before others."""
    pages = [link for link in links if link.rel == "alternate"]
    html = [link for link in pages if "html" in (link.type or "html")]
    return next((link.href for link in html + pages), None)


def read_enclosures(node: Node, reading: Reading) -> list[Enclosure]:
    """Media files: RSS `enclosure`, Atom `rel=enclosure`, Media RSS sound and moving images."""
    found = {}
    for child in (*node.all("enclosure"), *_atom_enclosures(node), *_media(node)):
        url = reading.link(child.attribute("url", "href"), child.base)
        if url and url not in found:
            length = number(child.attribute("length", "filesize"))
            found[url] = Enclosure(url, child.attribute("type"), length)
    return list(found.values())


def _atom_enclosures(node: Node) -> Iterator[Node]:
    return (child for child in node.all("link") if (child.attribute("rel") or "").lower() == "enclosure")


def _media(node: Node) -> Iterator[Node]:
    for child in node.all("media:content"):
        kind = child.attribute("medium") or child.attribute("type") or ""
        if kind.startswith(_PLAYABLE):
            yield child


def read_image(node: Node, reading: Reading) -> str | None:
    """The picture that stands for a feed or an entry."""
    for child in node.all("image", "logo", "itunes:image", "googleplay:image", "media:thumbnail"):
        inner = child.first("url")
        reference = inner.text() if inner else child.attribute("href", "url", "resource") or child.text()
        if image := reading.link(reference, child.base):
            return image
    for child in node.all("media:content", "enclosure"):
        kind = child.attribute("medium") or child.attribute("type") or ""
        if kind.startswith("image") and (image := reading.link(child.attribute("url"), child.base)):
            return image
    return None


def read_categories(node: Node, reading: Reading) -> list[str]:
    """The terms under which a feed or an entry is filed."""
    found = []
    for child in node.all("category", "dc:subject", "media:category", "itunes:category"):
        found.append(child.attribute("term") or child.text() or child.attribute("label", "text"))
    for child in node.all("itunes:keywords", "media:keywords"):
        found += child.text()[: MAX_NAME * 20].split(",")
    terms = (reading.capped(" ".join((term or "").split()), MAX_NAME, "category_truncated") for term in found)
    return [term for term in terms if term]
