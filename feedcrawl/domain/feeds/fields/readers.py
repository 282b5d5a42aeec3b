"""Fields that both feeds and entries have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.feeds.fields import markup
from feedcrawl.domain.feeds.formats.reading import MAX_TITLE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from feedcrawl.domain.feeds.formats.node import Node
    from feedcrawl.domain.feeds.formats.reading import Reading

MAX_LANGUAGE: Final = 64  # characters; BCP 47 section 4.4.1 requires at least 35


def read_title(nodes: Iterable[Node], reading: Reading) -> str | None:
    """The first title that is not empty, as plain text."""
    titles = (markup.plain(markup.read(node)) for node in nodes)
    return reading.capped(next(filter(None, titles), None), MAX_TITLE, "title_truncated")


def read_body(nodes: Iterable[Node], page: str | None = None) -> str | None:
    """The first text that is not empty, with absolute links.

    They are resolved against `xml:base`, else against `page`, where the text is shown, else against the document's URL.
    """
    bases = ((node, node.base if node.has_base else page or node.base) for node in nodes)
    return next(filter(None, (markup.absolute(markup.read(node), base) for node, base in bases)), None)


def read_date(node: Node, *names: str) -> datetime | None:
    """The first readable date of these children, in order of names; of several with one name the last counts."""
    texts = (child.text() for name in names for child in reversed(list(node.all(name))))
    return next(filter(None, map(parse_date, texts)), None)


def read_language(node: Node) -> str | None:
    """The language tag that applies, with hyphens (BCP 47)."""
    text = node.value("language", "dc:language") or node.lang or _language_of_texts(node)
    return text.replace("_", "-")[:MAX_LANGUAGE] if text else None


def _language_of_texts(node: Node) -> str | None:
    return next((child.lang for child in node.all("content", "summary", "title") if child.lang), None)
