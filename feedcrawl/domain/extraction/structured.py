"""Structured data: the JSON-LD that a page carries (https://schema.org, https://www.w3.org/TR/json-ld11/)."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from feedcrawl.domain.json_values import JsonObject
from feedcrawl.domain.text import fold, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

    from feedcrawl.domain.json_values import Json

Thing = JsonObject

MAX_LENGTH = 1 << 20
MAX_THINGS = 2000
_ARTICLE_TYPE = re.compile(r"(?:Article|Posting|Report|(?<!User)Review|CreativeWork|^Recipe)$")
_REMARKS = ("review", "reviews", "comment", "comments")
_PAGE_TYPE = re.compile(r"WebPage$|^VideoObject$|^PodcastEpisode$")
_WRAPPING = re.compile(r"^\s*(?:<!--|(?://\s*)?<!\[CDATA\[)|(?:-->|(?://\s*)?\]\]>)\s*$")
_ESCAPED_TWICE = re.compile(r"&#\d{2,6};")
_TRAILING_COMMA = re.compile(r",(?=\s*[\]}])")


def read_things(scripts: Iterable[HtmlElement]) -> tuple[Thing, ...]:
    """Every typed node of the JSON-LD in a page's scripts, in document order; unreadable scripts are left out."""
    found: list[Thing] = []
    for script in scripts:
        if "ld+json" in (script.get("type") or "").lower():
            found.extend(_typed(load_json(script.text or "")))
    return tuple(found[:MAX_THINGS])


def article_of(things: tuple[Thing, ...], url: str) -> Thing:
    """The node that describes the page's article: an article about this URL, any article, a page about this URL."""
    remarks = _remarks_on_articles(things)
    articles = [thing for thing in things if _is(thing, _ARTICLE_TYPE) and id(thing) not in remarks]
    return max(articles or [t for t in things if _is(t, _PAGE_TYPE)], key=lambda thing: _rank(thing, url), default={})


def remarks_in(things: tuple[Thing, ...]) -> set[int]:
    """The ids of what readers wrote: reviews and comments of an article or recipe, and several of a product."""
    found = _remarks_on_articles(things)
    for thing in things:
        for name in _REMARKS:
            if len(nodes := values(thing.get(name))) > 1:
                found.update(map(id, nodes))
    return found


def _remarks_on_articles(things: tuple[Thing, ...]) -> set[int]:
    articles = [thing for thing in things if _is(thing, _ARTICLE_TYPE)]
    return {id(node) for article in articles for name in _REMARKS for node in values(article.get(name))}


def is_article(thing: Thing) -> bool:
    """True for a node with the type of an article, a post, a report or a review."""
    return _is(thing, _ARTICLE_TYPE)


def has_type(thing: Thing, kind: str) -> bool:
    """True for a node of exactly this type, alone or among others."""
    return kind in values(thing.get("@type"))


def body_of(article: Thing) -> str:
    """The plain text of `articleBody`; None if there is none."""
    body = article.get("articleBody") or article.get("text")
    return plain_text(unescape(body)) if isinstance(body, str) else ""


def text_at(thing: Thing, *names: str) -> str | None:
    """The first of the properties that holds text, folded."""
    for name in names:
        for value in values(thing.get(name)):
            if isinstance(value, str) and (text := fold(_ESCAPED_TWICE.sub(_unescaped, unescape(value)))):
                return text
    return None


def _unescaped(reference: re.Match[str]) -> str:
    return unescape(reference[0])


def values(value: Json) -> list[Json]:
    """A property's values as a list: JSON-LD writes one value without brackets."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def load_json(text: str) -> Json:
    """The value of a script's JSON; None if there is none.

    Tolerated are comments around the JSON, raw line ends in strings, and trailing commas.
    """
    if len(text) > MAX_LENGTH:
        return None
    if "<!" in text or "-->" in text or "]]>" in text:
        text = _WRAPPING.sub("", _WRAPPING.sub("", text))
    text = text.strip().rstrip(";")
    for candidate in (text, _TRAILING_COMMA.sub("", text)):
        try:
            value: Json = json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
        return value
    return None


def _typed(value: Json) -> Iterator[Thing]:
    """All objects with a type, the outermost first, at any depth."""
    waiting, seen = [value], 0
    while waiting and seen < MAX_THINGS:
        node = waiting.pop(0)
        seen += 1
        if isinstance(node, list):
            waiting = node + waiting
        elif isinstance(node, dict):
            if "@type" in node:
                yield node
            waiting.extend(child for child in node.values() if isinstance(child, dict | list))


def _is(thing: Thing, pattern: re.Pattern[str]) -> bool:
    return any(isinstance(kind, str) and pattern.search(kind) for kind in values(thing.get("@type")))


def _rank(thing: Thing, url: str) -> tuple[bool, int]:
    known = sum(bool(thing.get(name)) for name in ("headline", "datePublished", "author", "articleBody"))
    return _is_about(thing, url), known


def _is_about(thing: Thing, url: str) -> bool:
    """True if a node names the page itself, by path (hosts and queries differ between variants of a page)."""
    path = urlsplit(url).path.rstrip("/")
    named = [thing.get("url"), thing.get("@id"), *values(thing.get("mainEntityOfPage"))]
    urls = [node.get("@id") or node.get("url") if isinstance(node, dict) else node for node in named]
    return bool(path) and any(
        isinstance(u, str) and u.split("#")[0].split("?")[0].rstrip("/").endswith(path) for u in urls
    )
