"""JSON Feed 1.0 and 1.1 (https://www.jsonfeed.org/version/1.1/)."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, NoReturn

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.errors import NotAFeed
from feedcrawl.domain.feeds.fields import markup
from feedcrawl.domain.feeds.fields.places import number
from feedcrawl.domain.feeds.formats.reading import MAX_ENTRIES, MAX_ID, MAX_NAME, MAX_PARTS, MAX_TITLE
from feedcrawl.domain.json_values import JsonObject
from feedcrawl.domain.models import Enclosure, Link, Paging, ParsedEntry, ParsedFeed, Person
from feedcrawl.domain.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterable

    from feedcrawl.domain.feeds.formats.reading import Reading

_Object = JsonObject


def read(text: str, reading: Reading) -> ParsedFeed:
    """The feed in a JSON document; raises NotAFeed (`bad_json`, `json`)."""
    feed = _load(text)
    version = _text(feed.get("version")) or ""
    items = feed.get("items")
    if "jsonfeed.org" not in version and not (isinstance(items, list) and _text(feed.get("title"))):
        raise NotAFeed(
            "json", f"JSON without a jsonfeed.org version; its keys: {', '.join(map(str, list(feed)[:8]))[:200]}"
        )
    entries = [item for item in _items(items, reading) if isinstance(item, dict)]
    if len(entries) > MAX_ENTRIES:
        reading.note("entries_truncated")
    authors = _persons(feed, reading)
    home = reading.link(_text(feed.get("home_page_url")), reading.url)
    return ParsedFeed(
        format="json1.0" if version.rstrip("/").endswith("/1") else "json1.1",
        title=_title(feed, reading),
        link=home,
        description=_text(feed.get("description")),
        language=_text(feed.get("language")),
        image=reading.link(_address(feed.get("icon")) or _address(feed.get("favicon")), reading.url),
        authors=authors,
        self_url=reading.link(_text(feed.get("feed_url")), reading.url),
        hubs=tuple(
            url for hub in _objects(feed.get("hubs")) if (url := reading.link(_text(hub.get("url")), reading.url))
        ),
        entries=tuple(_entry(item, authors, home, reading) for item in entries[:MAX_ENTRIES]),
        paging=Paging(next=reading.link(_text(feed.get("next_url")), reading.url)),
    )


def _items(value: object, reading: Reading) -> Iterable[object]:
    """The items; none for null, which Go writes for an empty list; those of an object, which PHP writes for a list with
    gaps. NotAFeed (`json`) for anything else, since an empty feed would hide the fault.
    """
    if isinstance(value, dict):
        reading.note("items_object")
        return value.values()
    if value is None or isinstance(value, list):
        return value or ()
    raise NotAFeed("json", f"a JSON Feed whose items are a {type(value).__name__}, not a list")


def _load(text: str) -> _Object:
    """The outermost object; NotAFeed (`bad_json`) also for numbers beyond a double's range (RFC 8259 section 6)."""
    try:
        value = json.loads(text, parse_int=_integer, parse_float=_finite, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise NotAFeed("bad_json", f"begins like JSON but is invalid: {error!s:.120}") from None
    if not isinstance(value, dict):
        raise NotAFeed("json", f"JSON, but a {type(value).__name__}; a feed must be an object")
    return value


def _integer(digits: str) -> int:
    _finite(digits)
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _no_number(digits)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text[:20]} is not a JSON number, or exceeds the range of a double")


def _entry(item: _Object, authors: tuple[Person, ...], site: str | None, reading: Reading) -> ParsedEntry:
    link = reading.link(_text(item.get("url")) or _text(item.get("external_url")), reading.url)
    external = reading.link(_text(item.get("external_url")), reading.url)
    links = [Link(link, "alternate")] if link else []
    published_raw = _text(item.get("date_published"))
    return ParsedEntry(
        native_id=reading.capped(_text(item.get("id")), MAX_ID, "id_truncated"),
        link=link,
        links=tuple(links + ([Link(external, "related")] if external and external != link else [])),
        title=_title(item, reading),
        summary=_text(item.get("summary")),
        content=_html(item, link or site or reading.url) or _text(item.get("content_text")),
        authors=_persons(item, reading)
        or authors,  # JSON Feed 1.1: without authors of its own, an item has the top-level authors
        categories=reading.few(_tags(item, reading), "categories_truncated"),
        enclosures=reading.few(_attachments(item, reading), "enclosures_truncated"),
        published=parse_date(published_raw or ""),
        updated=parse_date(_text(item.get("date_modified")) or ""),
        published_raw=published_raw,
        image=reading.link(_address(item.get("image")) or _address(item.get("banner_image")), reading.url),
        language=_text(item.get("language")),
        raw=json.dumps(item, ensure_ascii=False).encode("utf-8", "replace"),
    )


def _text(value: object) -> str | None:
    """A string, or a number as a string; None for everything else and for empty strings."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    return value.strip() or None if isinstance(value, str) else None


def _html(item: _Object, base: str) -> str | None:
    """The content as HTML with absolute links."""
    content = _text(item.get("content_html"))
    return content and markup.absolute(markup.Text(content, "html"), base)


def _title(holder: _Object, reading: Reading) -> str | None:
    return reading.capped(fold(_text(holder.get("title")) or ""), MAX_TITLE, "title_truncated")


def _values(value: object) -> list[object]:
    """The values of a list; a value that stands for a list of one, as publishers write it, alone."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _objects(value: object) -> list[_Object]:
    return [item for item in _values(value) if isinstance(item, dict)]


def _address(value: object) -> str | None:
    """A URL, or the `url` of an object that describes it."""
    return _text(value.get("url")) if isinstance(value, dict) else _text(value)


def _persons(holder: _Object, reading: Reading) -> tuple[Person, ...]:
    """The persons of `author` (1.0) and `authors` (1.1), each once; texts are names where there are no objects."""
    found: dict[Person, None] = {}
    values = (*_values(holder.get("author")), *_values(holder.get("authors")))
    for person in _objects(list(values)) or [{"name": name} for name in values if isinstance(name, str)]:
        name = reading.capped(_text(person.get("name")), MAX_NAME, "author_truncated")
        uri = reading.link(_text(person.get("url")), reading.url)
        if name or uri:
            found[Person(name=name, uri=uri)] = None
    return reading.few(list(found), "authors_truncated")


def _tags(item: _Object, reading: Reading) -> list[str]:
    """The tags, each once; of a text instead of a list, the parts between commas."""
    tags = item.get("tags")
    texts = map(_text, tags[: MAX_NAME * MAX_PARTS].split(",") if isinstance(tags, str) else _values(tags))
    found = (reading.capped(text, MAX_NAME, "category_truncated") for text in texts)
    return list(dict.fromkeys(filter(None, found)))


def _attachments(item: _Object, reading: Reading) -> list[Enclosure]:
    found = []
    for attachment in _objects(item.get("attachments")):
        if url := reading.link(_text(attachment.get("url")), reading.url):
            size = number((_text(attachment.get("size_in_bytes")) or "").partition(".")[0])
            found.append(Enclosure(url, _text(attachment.get("mime_type")), size))
    return found
