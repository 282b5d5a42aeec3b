"""The stated posts of a thread: JSON-LD, microdata, microformats.

https://schema.org/DiscussionForumPosting, https://schema.org/QAPage, https://microformats.org/wiki/h-entry
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.structured import body_of, text_at, values
from feedcrawl.domain.extraction.threads.rows import MAX_POSTS, posts_of_rows
from feedcrawl.domain.text import canonical_text, fold, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.extraction.structured import Thing
    from feedcrawl.domain.extraction.threads.rows import Row
    from feedcrawl.domain.json_values import Json
    from feedcrawl.domain.models import Post

_Parts = dict[str, "HtmlElement"]
"""The elements that hold the properties of one item or entry, by name."""

_FIRST = frozenset({"Question", "DiscussionForumPosting", "SocialMediaPosting"})
_POSTS = _FIRST | {"Answer", "Comment"}
_REPLIES = ("acceptedAnswer", "suggestedAnswer", "comment")
_TEXTS, _DAYS = ("text", "articleBody"), ("datePublished", "dateCreated")
_MOST_LEVELS = 20  # of answers to answers
_ENTRIES = frozenset({"h-entry", "h-cite"})


def posts_of_things(page: Page) -> list[Post]:
    """The first discussion or question of the page's JSON-LD and the replies in it; accepted answers come first."""
    first = next((thing for thing in page.things if not _FIRST.isdisjoint(_types(thing))), None)
    return posts_of_rows(list(islice(_rows_of(first, 0), MAX_POSTS))) if first else []


def posts_of_microdata(page: Page) -> list[Post]:
    """The items of the page that are discussions, questions, answers and comments, in document order.

    If all of them are replies, the first post is that of the page's JSON-LD.
    """
    items: dict[HtmlElement, _Parts] = {e: {} for e in page.tree.iterfind(".//*[@itemtype]") if _item_type(e) in _POSTS}
    for element in page.tree.iterfind(".//*[@itemprop]") if items else ():
        properties = items.get(_around(element, _is_item), {})
        for name in element.get("itemprop").split():
            properties.setdefault(name, element)
    posts = posts_of_rows(list(islice(filter(None, map(_item, items.values())), MAX_POSTS)))
    first = [] if any(_item_type(item) in _FIRST for item in items) else posts_of_things(page)[:1]
    return [*first, *posts][:MAX_POSTS] if posts else []


def has_first_item(page: Page) -> bool:
    """True if the microdata of the page has the text of a discussion or question, not only texts of replies."""
    for text in page.tree.iterfind(".//*[@itemprop]"):
        item = None if set(_TEXTS).isdisjoint(text.get("itemprop").split()) else _around(text, _is_item)
        if item is not None and _item_type(item) in _FIRST and canonical_text(text):
            return True
    return False


def posts_of_entries(page: Page) -> list[Post]:
    """The h-entries and h-cites of the page, in document order."""
    entries: dict[HtmlElement, _Parts] = {e: {} for e in page.tree.iterfind(".//*[@class]") if _is_entry(e)}
    for element in page.tree.iterfind(".//*[@class]") if entries else ():
        parts = entries.get(_around(element, _is_entry), {})
        for name in _classes(element):
            parts.setdefault(name, element)
    return posts_of_rows(list(islice(filter(None, map(_entry, entries.values())), MAX_POSTS)))


def _types(thing: Thing) -> set[str]:
    return {str(kind) for kind in values(thing.get("@type"))}


def _rows_of(thing: Thing, level: int) -> Iterator[Row]:
    """The post of a node, then those of its replies; a question without a text has its name as text."""
    text = body_of(thing) or (text_at(thing, "name", "headline") if "Question" in _types(thing) else None)
    if text:
        author = next(filter(None, map(_name, values(thing.get("author")))), None)
        yield text, author, text_at(thing, *_DAYS) or ""
    if level < _MOST_LEVELS:
        for reply in (reply for name in _REPLIES for reply in values(thing.get(name)) if isinstance(reply, dict)):
            yield from _rows_of(reply, level + 1)


def _name(node: Json) -> str | None:
    if isinstance(node, str):
        return fold(node) or None
    return text_at(node, "name", "alternateName") if isinstance(node, dict) else None


def _item_type(element: HtmlElement) -> str:
    return (element.get("itemtype") or "").split(" ")[0].rpartition("/")[2]


def _item(properties: _Parts) -> Row | None:
    body = next((properties[name] for name in _TEXTS if name in properties), None)
    text = canonical_text(body) if body is not None else ""
    by = properties.get("author")
    name = by.find(".//*[@itemprop='name']") if by is not None else None
    day = next((properties[name] for name in _DAYS if name in properties), None)
    return (text, _value(by if name is None else name) or None, _day(day)) if text else None


def _is_item(element: HtmlElement) -> bool:
    return element.get("itemscope") is not None


def _is_entry(element: HtmlElement) -> bool:
    return not _ENTRIES.isdisjoint(_classes(element))


def _around(element: HtmlElement, is_whole: Callable[[HtmlElement], bool]) -> HtmlElement | None:
    """The innermost item or entry that contains an element."""
    return next(filter(is_whole, element.iterancestors()), None)


def _value(element: HtmlElement | None) -> str:
    """The value of a property: the machine-readable value, else the text of the element."""
    if element is None:
        return ""
    return fold(element.get("content") or element.get("datetime") or "") or text_of(element)


def _day(element: HtmlElement | None) -> str:
    return _value(element).replace("Z+00:00", "Z")  # as Stack Exchange writes it


def _classes(element: HtmlElement) -> list[str]:
    return (element.get("class") or "").split()


def _entry(parts: _Parts) -> Row | None:
    body = parts.get("e-content", parts.get("p-content"))
    text = canonical_text(body) if body is not None else ""
    author = _value(parts.get("p-author"))
    return (text, author or None, _day(parts.get("dt-published"))) if text else None
