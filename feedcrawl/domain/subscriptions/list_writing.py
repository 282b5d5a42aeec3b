"""Lists of feeds for other programs: OPML, plain text, CSV and JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lxml import etree

from feedcrawl.domain.markup import NOT_XML
from feedcrawl.domain.subscriptions.list_tables import write_csv, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from feedcrawl.domain.subscriptions.listed import ListedFeed

NAMESPACE: Final = "https://feedcrawl.readthedocs.io/opml"  # of fields without an OPML attribute (OPML 2.0, Extending)


def write_opml(feeds: Iterable[ListedFeed], title: str = "Feeds") -> bytes:
    """An OPML 2.0 document: each feed in the folder of each of its categories.

    `category` has the categories too, except those with a comma, which separates categories there.
    """
    root = etree.Element("opml", {"version": "2.0"}, nsmap={"feedcrawl": NAMESPACE})
    etree.SubElement(etree.SubElement(root, "head"), "title").text = _writable(title)
    body = etree.SubElement(root, "body")
    folders: dict[str, etree._Element] = {}
    for feed in feeds:
        for name in map(_writable, feed.categories):
            if name not in folders:
                folders[name] = etree.SubElement(body, "outline", text=name, title=name)
            etree.SubElement(folders[name], "outline", _attributes(feed))
        if not feed.categories:
            etree.SubElement(body, "outline", _attributes(feed))
    return etree.tostring(root, xml_declaration=True, encoding="utf-8", pretty_print=True)


def write_text(feeds: Iterable[ListedFeed]) -> bytes:
    """One URL with its categories on each line; titles and overrides are left out."""
    lines = (" ".join([feed.url, *map(_quoted, feed.categories)]) for feed in feeds)
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


FORMS: Final[dict[str, Callable[[Iterable[ListedFeed]], bytes]]] = {
    "opml": write_opml,
    "text": write_text,
    "csv": write_csv,
    "json": write_json,
}
"""The writer for each format of a list."""


def _quoted(category: str) -> str:
    plain = category.replace('"', "'")
    return f'"{plain}"' if re.search(r"\s|^#", plain) else plain


def _attributes(feed: ListedFeed) -> dict[str, str]:
    values = {
        "type": "rss",  # for every format: readers look for "rss" (OPML 2.0, subscription lists)
        "text": feed.title or feed.url,
        "title": feed.title,
        "xmlUrl": feed.url,
        "htmlUrl": feed.site_url,
        "category": ",".join(name for name in feed.categories if "," not in name),
        **{f"{{{NAMESPACE}}}{_camel(name)}": _attribute(value) for name, value in feed.overrides.given().items()},
    }
    return {name: _writable(value) for name, value in values.items() if value}


def _attribute(value: object) -> str:
    return "true" if value is True else str(value)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def _writable(text: str) -> str:
    """The text without characters that lxml refuses to write."""
    return NOT_XML.sub("", text)
