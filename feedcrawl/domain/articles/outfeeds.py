"""Published feeds: a collection of articles as Atom 1.0 (RFC 4287) and as JSON Feed 1.1
(jsonfeed.org/version/1.1).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from lxml import etree

from feedcrawl.domain.dates import moment, rfc3339
from feedcrawl.domain.markup import NOT_XML

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from feedcrawl.domain.articles.fields import ArticleFields

ATOM_TYPE: Final = "application/atom+xml; charset=utf-8"
JSON_TYPE: Final = "application/feed+json; charset=utf-8"
_ATOM: Final = "http://www.w3.org/2005/Atom"
_XML: Final = "{http://www.w3.org/XML/1998/namespace}"
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_SAFE: Final = "%/:?#[]@!$&'()*+,;=~"
_NOBODY: Final = "unknown"
"""Author of an entry without known authors, because Atom requires one."""


@dataclass(frozen=True, slots=True)
class OutFeed:
    """A collection and its URLs: of this page, of the next page, of the WebSub hub.

    `id` is shared by all pages (RFC 5005 section 3).
    """

    title: str
    self_url: str
    updated: datetime
    id: str
    next_url: str | None = None
    hub_url: str | None = None


@dataclass(frozen=True, slots=True)
class OutEntry:
    """An article of a published feed; `html` is sanitised, `updated` is the time of the fetch of this version."""

    uid: str
    url: str
    updated: datetime
    title: str | None = None
    published: datetime | None = None
    authors: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    summary: str | None = None
    html: str | None = None
    image: str | None = None
    language: str | None = None


def entry_of(article: ArticleFields) -> OutEntry:
    """The entry of an article record in the shape of docs/data-format.md."""
    return OutEntry(
        uid=article["uid"],
        url=article["canonical_url"],
        updated=datetime.fromtimestamp(article["fetched_ts"], UTC),
        title=article.get("title"),
        published=moment(article.get("published")),
        authors=tuple(article.get("authors") or ()),
        categories=tuple(article.get("categories") or ()),
        summary=article.get("abstract"),
        html=article.get("content_html"),
        image=article.get("image"),
        language=article.get("language"),
    )


def atom(feed: OutFeed, entries: Sequence[OutEntry]) -> bytes:
    """An Atom document. An entry's id is made of the article's uid, and stays if its URL changes."""
    root = etree.Element(f"{{{_ATOM}}}feed", nsmap={None: _ATOM})  # type: ignore[dict-item]
    _text(root, "id", iri(feed.id))
    _text(root, "title", feed.title)
    _text(root, "updated", rfc3339(max((entry.updated for entry in entries), default=feed.updated), "seconds"))
    _text(root, "generator", "feedcrawl")
    links = {"self": feed.self_url, "next": feed.next_url, "hub": feed.hub_url}
    for rel, url in links.items():
        _link(root, rel, url)
    for entry in entries:
        _entry(etree.SubElement(root, f"{{{_ATOM}}}entry"), entry)
    return etree.tostring(root, xml_declaration=True, encoding="utf-8")


def _entry(element: etree._Element, entry: OutEntry) -> None:
    if entry.language and _LANGUAGE.fullmatch(entry.language):
        element.set(f"{_XML}lang", entry.language)
    _text(element, "id", _id(entry))
    _text(element, "title", entry.title or entry.url)
    _text(element, "updated", rfc3339(entry.updated, "seconds"))
    if entry.published:
        _text(element, "published", rfc3339(entry.published, "seconds"))
    _link(element, "alternate", entry.url)
    for name in entry.authors or (_NOBODY,):
        _text(etree.SubElement(element, f"{{{_ATOM}}}author"), "name", name)
    for term in entry.categories:
        etree.SubElement(element, f"{{{_ATOM}}}category", {"term": _sound(term)})
    if entry.summary:
        _text(element, "summary", entry.summary)
    if entry.html:
        _text(element, "content", entry.html, type="html")


def _text(parent: etree._Element, name: str, text: str, **attributes: str) -> None:
    etree.SubElement(parent, f"{{{_ATOM}}}{name}", attributes).text = _sound(text)


def _link(parent: etree._Element, rel: str, url: str | None) -> None:
    if url:
        etree.SubElement(parent, f"{{{_ATOM}}}link", {"rel": rel, "href": iri(url)})


def json_feed(feed: OutFeed, entries: Sequence[OutEntry]) -> bytes:
    """A JSON Feed document with the same entries and ids as the Atom document."""
    fields = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.title,
        "feed_url": iri(feed.self_url),
        "next_url": feed.next_url and iri(feed.next_url),
        "hubs": [{"type": "WebSub", "url": iri(feed.hub_url)}] if feed.hub_url else None,
        "items": [_item(entry) for entry in entries],
    }
    return json.dumps(_known(fields), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _item(entry: OutEntry) -> dict[str, object]:
    return _known(
        {
            "id": _id(entry),
            "url": iri(entry.url),
            "title": entry.title,
            "content_html": entry.html,
            "content_text": None if entry.html else entry.summary or "",
            "summary": entry.summary,
            "image": entry.image and iri(entry.image),
            "date_published": entry.published and rfc3339(entry.published, "seconds"),
            "date_modified": rfc3339(entry.updated, "seconds"),
            "authors": [{"name": name} for name in entry.authors] or None,
            "tags": list(entry.categories) or None,
            "language": entry.language,
        }
    )


def _known(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


def _id(entry: OutEntry) -> str:
    return f"urn:feedcrawl:article:{entry.uid}"


def iri(url: str) -> str:
    """The URL with every character percent-encoded that a URI does not allow."""
    return quote(url, safe=_SAFE, errors="replace")


def _sound(text: str) -> str:
    return NOT_XML.sub("\ufffd", text)
