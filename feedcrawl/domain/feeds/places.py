"""Links, enclosures, images and categories of a feed or an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.feeds.reading import MAX_NAME, MAX_PARTS
from feedcrawl.domain.models import Enclosure, Link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from feedcrawl.domain.feeds.node import Node
    from feedcrawl.domain.feeds.reading import Reading

_REGISTRY = "http://www.iana.org/assignments/relation/"
_PLAYABLE = ("audio", "video")


def number(text: str | None) -> int | None:
    """A count in ASCII digits, or None."""
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def read_links(node: Node, reading: Reading) -> list[Link]:
    """All links: `link` with `href` as in Atom or with a URL as text as in RSS ("alternate"), and RSS `enclosure`."""
    found = []
    for child in node.all("link", "enclosure"):
        rel = child.attribute("rel") or ("alternate" if child.name == "link" else "enclosure")
        href = reading.link(child.attribute("href", "url", "resource") or child.text(), child.base)
        if href:
            relation = rel.removeprefix(_REGISTRY) if rel.startswith(_REGISTRY) else rel
            found.append(Link(href, relation, child.attribute("type"), child.attribute("title")))
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
    references = ((child, child.attribute("url", "href")) for child in _pictures(node))
    return next(filter(None, (reading.link(reference, child.base) for child, reference in references)), None)


def _pictures(node: Node) -> Iterator[Node]:
    for child in node.all("media:content", "enclosure"):
        if (child.attribute("medium") or child.attribute("type") or "").startswith("image"):
            yield child
    for child in node.all("link", "itunes:link"):
        if child.attribute("rel") in {"image", "icon"}:
            yield child


def read_categories(node: Node, reading: Reading) -> list[str]:
    """The terms under which a feed or an entry is filed, each once per scheme."""
    found: dict[tuple[str | None, str | None], None] = {}
    for child in node.all("category", "dc:subject", "media:category", "itunes:category"):
        for term in (child, *child.all("itunes:category")):
            text = term.attribute("term") or term.text() or term.attribute("label", "text")
            found[text, term.attribute("scheme", "domain")] = None
    for child in node.all("itunes:keywords", "media:keywords"):
        found |= {(word, None): None for word in child.text()[: MAX_NAME * MAX_PARTS].split(",")}
    terms = (" ".join((text or "").split()) for text, _ in found)
    return [term for text in terms if (term := reading.capped(text, MAX_NAME, "category_truncated"))]
