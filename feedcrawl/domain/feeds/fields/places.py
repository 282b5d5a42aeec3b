"""Links, enclosures, images and categories of a feed or an entry."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from feedcrawl.domain.feeds.formats.reading import MAX_NAME, MAX_PARTS, MAX_TITLE
from feedcrawl.domain.models import Enclosure, Link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from feedcrawl.domain.feeds.formats.node import Node
    from feedcrawl.domain.feeds.formats.reading import Reading

_REGISTRY = "http://www.iana.org/assignments/relation/"
_PLAYABLE = re.compile(
    r"(?:audio|video)\b|.*\.(?:aac|flac|m4[abv]|mov|mp[34]|og[agv]|opus|wav|webm)(?:$|[?#])", re.IGNORECASE
)


def number(text: str | None) -> int | None:
    """A non-negative number in ASCII digits (at most 15); None for any other text."""
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def read_links(node: Node, reading: Reading) -> list[Link]:
    """All links: Atom `link` with `href`, RSS `link` with a URL as text ("alternate"), and RSS `enclosure`."""
    found = []
    for child in node.in_order("link", "enclosure"):
        rel = child.attribute("rel") or ("alternate" if child.name == "link" else "enclosure")
        reference = child.attribute("href", "url", "resource") or child.text() or _declared_base(child, reading)
        href = reading.link(reference, child.base)
        if href:
            kind = reading.capped(child.attribute("type"), MAX_NAME, "links_truncated")
            title = reading.capped(child.attribute("title"), MAX_TITLE, "links_truncated")
            found.append(Link(href, rel.removeprefix(_REGISTRY)[:MAX_NAME], kind, title))
    return found


def _declared_base(node: Node, reading: Reading) -> str | None:
    """The target of an empty `href`: the base that the publisher declares (RFC 3986 section 4.4), else None."""
    return node.base if node.element.get("href") == "" and node.base != reading.url else None


def related(links: list[Link], rel: str) -> str | None:
    """The target of the first link with a relation; None if there is none."""
    return next((link.href for link in links if link.rel == rel), None)


def replies(links: list[Link]) -> str | None:
    """The comments on an entry: a `replies` link of type HTML, else the first of any type (RFC 4685 section 4)."""
    found = [link for link in links if link.rel == "replies"]
    html = [link for link in found if "html" in (link.type or "")]
    return next((link.href for link in html + found), None)


def alternate(links: list[Link]) -> str | None:
    """The page of a feed or entry: an `alternate` link of type HTML, else without type, else of any type.

    Of several links without type the last counts: RSS allows only one, so that a later one corrects an earlier one.
    """
    pages = [link for link in links if link.rel == "alternate"]
    html = [link for link in pages if "html" in (link.type or "")]
    untyped = [link for link in reversed(pages) if not link.type]
    return next((link.href for link in html + untyped + pages), None)


def read_enclosures(node: Node, reading: Reading) -> list[Enclosure]:
    """The media files: RSS `enclosure`, Atom `rel=enclosure`, audio and video of Media RSS."""
    found = {}
    for child in (*node.all("enclosure"), *_atom_enclosures(node), *_media(node)):
        url = reading.link(child.attribute("url", "href"), child.base)
        if url and url not in found:
            length = number(child.attribute("length", "filesize"))
            kind = reading.capped(child.attribute("type"), MAX_NAME, "enclosures_truncated")
            found[url] = Enclosure(url, kind, length)
    return list(found.values())


def _atom_enclosures(node: Node) -> Iterator[Node]:
    return (child for child in node.all("link") if (child.attribute("rel") or "").lower() == "enclosure")


def _media(node: Node) -> Iterator[Node]:
    for child in node.all("media:content"):
        if _PLAYABLE.match(child.attribute("medium") or child.attribute("type") or child.attribute("url") or ""):
            yield child


def read_image(node: Node, reading: Reading) -> str | None:
    """The URL of the image of a feed or an entry; None if there is none."""
    for child in node.all("image", "logo", "itunes:image", "googleplay:image", "media:thumbnail"):
        inner = child.first("url")
        reference = inner.text() if inner else child.attribute("href", "url", "resource") or child.text()
        if image := reading.link(reference, child.base):
            return image
    pictures = (reading.link(child.attribute("url", "href"), child.base) for child in _pictures(node))
    return next(filter(None, pictures), None)


def _pictures(node: Node) -> Iterator[Node]:
    for child in node.all("media:content", "enclosure"):
        if (child.attribute("medium") or child.attribute("type") or "").startswith("image"):
            yield child
    for child in node.all("link", "itunes:link"):
        if child.attribute("rel") in {"image", "icon"}:
            yield child


def read_categories(node: Node, reading: Reading) -> list[str]:
    """The categories of a feed or an entry, each once per scheme and label."""
    found: dict[tuple[str | None, ...], None] = {}
    for child in node.all("itunes:keywords", "media:keywords", "tags"):
        found |= {(word.strip(), None, None): None for word in child.text()[: MAX_NAME * MAX_PARTS].split(",")}
    for child in node.all("category", "itunes:category", "dc:subject", "media:category"):
        for part in (child, *child.all("itunes:category")):
            label, scheme = part.attribute("label"), part.attribute("scheme", "domain")
            found[part.attribute("term", "text") or part.text() or label, label, scheme] = None
    texts = (" ".join((key[0] or "").split()) for key in found)
    return [term for text in texts if (term := reading.capped(text, MAX_NAME, "category_truncated"))]
