"""Sitemaps: XML, text and their index (sitemaps.org protocol 0.9), with Google's news and image extensions.

Elements are read one `<url>` at a time and freed, so that memory grows with the result, not with the document.
Namespaces are ignored, because many sitemaps declare a wrong one or none.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from html.entities import name2codepoint
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

from lxml import etree

from feedcrawl.domain.errors import InvalidUrl, NotASitemap
from feedcrawl.domain.http.codings import gunzip
from feedcrawl.domain.http.encodings import decode
from feedcrawl.domain.models import ParsedSitemap, SitemapRef, SitemapUrl
from feedcrawl.domain.sitemaps.elements import WEB, local_name, read_sitemap, read_url
from feedcrawl.domain.urls import MAX_URL_LENGTH, once_escaped, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# The protocol allows 50 MB and 50 000 entries in a file. Twice as many URLs are read, because some sites serve longer
# lists as one file; an index never comes near the limit.
MAX_BYTES: Final = 50 * 1024 * 1024
MAX_URLS: Final = 100_000
MAX_SITEMAPS: Final = 50_000
MAX_EVENTS: Final = 4_000_000  # starts and ends of elements; a sitemap with 100 000 URLs has about a quarter of this

COMMON_PATHS: Final = ("/sitemap.xml", "/sitemap_index.xml", "/news-sitemap.xml", "/sitemap-news.xml")

TRUNCATED: Final = "truncated: the document ends before its root element does"

_KINDS = {"urlset": "urlset", "sitemapindex": "index"}
_OTHER_ROOTS = {"rss": "feed", "feed": "feed", "rdf": "feed", "html": "html"}

_START = re.compile(rb"<\?xml\s|<(?:\w+:)?(?:urlset|sitemapindex)[\s>]", re.IGNORECASE)
_HTML = re.compile(rb"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
_ROOT_END = re.compile(rb"</(?:\w+:)?(?:urlset|sitemapindex)\s*>|<(?:urlset|sitemapindex)[^<>]*/>", re.IGNORECASE)
_LOC = re.compile(rb"<(?:\w+:)?loc\b", re.IGNORECASE)
_ELEMENT_END = re.compile(rb".*</(?:\w+:)?(?:url|sitemap)\s*>", re.IGNORECASE | re.DOTALL)
_COMMENTS = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_UNDEFINED = re.compile(r"&\w+;")
_LOOSE = re.compile(rb"<!\[CDATA\[(?:.*?\]\]>|.*)|<(?![\w:/!?])|&(?!#)(?:(\w+);)?", re.DOTALL)

_Item = TypeVar("_Item", SitemapUrl, SitemapRef)


def parse(body: bytes, *, url: str) -> ParsedSitemap:
    """The sitemap in `body`, fetched from `url`. Raises NotASitemap with the kind of the document.

    Each `loc` is absolute, otherwise as published; its fetcher normalises it (`urls.resolve`). Entries without a web
    URL are left out. `notes` list these and everything else that was cut or tolerated.
    """
    content, notes = gunzip(body, limit_bytes=MAX_BYTES)
    if not content.strip(b"\0 \t\r\n"):
        raise NotASitemap("empty", "the document is empty")
    if len(content) > MAX_BYTES:
        content, notes = content[:MAX_BYTES], (*notes, f"cut at {MAX_BYTES} bytes")
    return _admitted(_text_list(content) or _xml(content), url, notes)


def _admitted(found: ParsedSitemap, url: str, notes: tuple[str, ...]) -> ParsedSitemap:
    """The sitemap with absolute URLs, without the entries that have none."""
    urls = tuple(_with_locs(found.urls, url))
    sitemaps = tuple(_with_locs(found.sitemaps, url))
    dropped = len(found.urls) + len(found.sitemaps) - len(urls) - len(sitemaps)
    if dropped:
        notes = (*notes, f"{dropped} entries without a web URL left out")
    if not (urls or sitemaps):
        notes = (*notes, "no_urls: the document lists no web URL")
    return replace(found, urls=urls, sitemaps=sitemaps, notes=found.notes + notes)


def _with_locs(items: Iterable[_Item], url: str) -> Iterator[_Item]:
    for item in items:
        if loc := _absolute(item.loc, url):
            yield item if loc == item.loc else replace(item, loc=loc)


def _absolute(loc: str, url: str) -> str | None:
    """A web URL as published, or a relative URL made absolute; None for other schemes and for URLs that are too long.

    A relative URL with an undefined entity is None too, because the entity's text is unknown.
    """
    loc = once_escaped(loc)
    if not loc or len(loc) > MAX_URL_LENGTH:
        return None
    if loc[:8].lower().startswith(WEB):
        return loc
    if _UNDEFINED.search(loc):
        return None
    try:
        return resolve(loc, url)
    except InvalidUrl:
        return None


def _text_list(content: bytes) -> ParsedSitemap | None:
    """The URLs of a text sitemap, without comments and other words; None if `content` is no text sitemap."""
    if not _COMMENTS.sub("", content[:4096].decode("utf-8-sig", "replace")).lstrip().lower().startswith(WEB):
        return None
    text = content.decode("utf-8-sig", "replace")
    words = _COMMENTS.sub("", text).split()
    locs = [word for word in words if word[:8].lower().startswith(WEB)]
    if 2 * len(locs) < len(words):
        raise NotASitemap("text", "the text has more other words than URLs")
    notes: tuple[str, ...] = ("comments in a text list",) if text.lstrip().startswith("#") else ()
    notes += ("over_limit: not read to its end",) if len(locs) > MAX_URLS else ()
    return ParsedSitemap("text", urls=tuple(map(SitemapUrl, locs[:MAX_URLS])), notes=notes)


def _xml(content: bytes) -> ParsedSitemap:
    """The urlset or index in `content`. No DTD, entity or network is used; libxml2 limits depth and text."""
    whole, notes = _without_cut_end(_utf8(content))
    events = etree.iterparse(
        BytesIO(_mended(whole)),
        events=("start", "end"),
        recover=True,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        encoding="utf-8",
    )
    with suppress(etree.XMLSyntaxError):
        for _, root in events:
            found = _read(events, _kind(root))
            return replace(found, notes=notes + found.notes)
    raise NotASitemap("html" if _HTML.search(content[:4096]) else "not_xml", "the document has no readable element")


def _without_cut_end(content: bytes) -> tuple[bytes, tuple[str, ...]]:
    """`content` without an element that is cut off at its end, since half a URL is another URL; and notes."""
    if not _START.search(content[:65536]) or _ROOT_END.search(content):
        return content, ()
    end = _ELEMENT_END.match(content)
    return end[0] if end else _LOC.split(content, maxsplit=1)[0], (TRUNCATED,)


def _utf8(content: bytes) -> bytes:
    """`content` in UTF-8: libxml2 would trust any encoding that the document declares."""
    decoded = decode(content)
    return content if decoded.encoding == "utf-8" and not decoded.notes else decoded.text.encode("utf-8", "replace")


def _mended(content: bytes) -> bytes:
    """`content` from its first tag on, repaired so that the parser's recovery loses less.

    After an error libxml2 drops every named entity, and a bare `&` is an error that many sitemaps have. So named
    entities become numeric ones, a bare `&` becomes an entity, and a `<` that opens no tag is removed, as recovery
    would do.
    """
    start = _START.search(content[:65536])
    return _LOOSE.sub(_mend, content[start.start() :] if start else content)


def _mend(match: re.Match[bytes]) -> bytes:
    text = match[0]
    if text.startswith(b"<"):
        return text if len(text) > 1 else b""
    code = name2codepoint.get((match[1] or b"").decode("ascii", "ignore"))
    return b"&#%d;" % code if code else b"&#38;" + text[1:]


def _read(events: etree.iterparse, kind: str) -> ParsedSitemap:
    """The pages and sitemaps under a root of this kind; the schema allows one of them, sites list either in both."""
    urls: list[SitemapUrl] = []
    refs: list[SitemapRef] = []
    most = MAX_SITEMAPS if kind == "index" else MAX_URLS
    for element in islice(_elements(events), most):
        if local_name(element) == "url":
            urls.append(read_url(element))
        else:
            refs.append(read_sitemap(element))
    stray = ("<url> in an index",) if kind == "index" and urls else ("<sitemap> in a urlset",) if urls and refs else ()
    if kind != "index" and refs and not urls:
        kind, stray = "index", ("<sitemap> in a urlset",)
    kind = "urlset" if urls else kind
    return ParsedSitemap(kind, urls=tuple(urls), sitemaps=tuple(refs[:MAX_SITEMAPS]), notes=stray + _faults(events))


def _kind(root: etree._Element) -> str:
    name = local_name(root)
    if name not in _KINDS:
        kind = _OTHER_ROOTS.get(name, "other_xml")
        hint = ": `subscribe URL` subscribes to a feed" if kind == "feed" else ""
        raise NotASitemap(kind, f"<{name[:80]}> instead of <urlset> or <sitemapindex>{hint}")
    return _KINDS[name]


def _faults(events: etree.iterparse) -> tuple[str, ...]:
    """Notes on the first error that the parser tolerated, and on a document that was not read to its end."""
    more = any(event == "start" for event, _ in islice(events, 2))
    unread = ("over_limit: not read to its end",) if more else ()
    fault = next(iter(events.error_log), None)
    return (f"not well-formed: {fault.message.splitlines()[0][:200]} (line {fault.line})", *unread) if fault else unread


def _elements(events: Iterable[tuple[str, etree._Element]]) -> Iterator[etree._Element]:
    """Complete elements of pages and sitemaps; each is freed, with all before it, when the next is requested."""
    for event, element in islice(events, MAX_EVENTS):
        if event == "end" and local_name(element) in ("url", "sitemap"):
            yield element
            element.clear()
            parent = element.getparent()
            while parent is not None and element.getprevious() is not None:
                del parent[0]
