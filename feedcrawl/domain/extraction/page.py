"""One page, parsed once: its tree, its meta elements, its structured data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urljoin

from feedcrawl.domain.errors import NoArticle
from feedcrawl.domain.extraction.bodies.areas import main_area
from feedcrawl.domain.extraction.bodies.weights import weigh
from feedcrawl.domain.extraction.labels import Labels
from feedcrawl.domain.extraction.placeholders import clear_placeholders, is_placeholder
from feedcrawl.domain.extraction.structured import Thing, article_of, is_article, read_things
from feedcrawl.domain.figures.formulas import settle_formulas
from feedcrawl.domain.figures.images import show_images
from feedcrawl.domain.figures.posts import settle_posts
from feedcrawl.domain.http.encodings import decode_page
from feedcrawl.domain.http.sniffing import document_of_links, is_no_text, kind_of
from feedcrawl.domain.markup import Elements, parse_html
from feedcrawl.domain.text import canonical_text, fold, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.bodies.areas import Area
    from feedcrawl.domain.extraction.labels import Label

MIN_HTML_LENGTH = 200
MIN_STORY = 500  # letters of prose; shorter texts explain how to enable scripts
MAX_SHORT_LINE = 200
MAX_ELEMENTS = 60_000  # ten times a large page; a larger page is an attack or a data dump
_WORD = re.compile(r"\w+")
RIGHTS = re.compile(r"©|\(c\)|copyright|all rights reserved", re.IGNORECASE)
T = TypeVar("T")
_NAMES = ("property", "name", "itemprop", "http-equiv")


@dataclass(frozen=True)
class Page:
    """A parsed page. `metas`: contents by lower-case name; `article`: the JSON-LD node of the page's article."""

    url: str
    base: str
    elements: Elements
    raw_len: int
    metas: Mapping[str, tuple[str, ...]]
    things: tuple[Thing, ...]
    article: Thing

    @property
    def tree(self) -> HtmlElement:
        """The root of the page's elements."""
        return self.elements.tree

    def meta(self, *names: str) -> str | None:
        """The first content of the meta elements with these names, in order of preference."""
        for name in names:
            if name in self.metas:
                return self.metas[name][0]
        return None

    @cached_property
    def lines(self) -> list[str]:
        """The lines of everything that the page shows."""
        return canonical_text(self.tree).splitlines()

    @cached_property
    def title_element(self) -> str:
        """The text of the title element (that of the head: drawings have titles too)."""
        title = self.tree.find("head/title")
        if title is None:
            title = next(iter(self.elements.of("title")), None)
        return fold(title.text or "") if title is not None else ""

    @cached_property
    def headings(self) -> list[tuple[HtmlElement, str]]:
        """The h1 elements that have a text, and their texts."""
        return [(h1, text) for h1 in self.elements.of("h1") if (text := text_of(h1))]

    @cached_property
    def labels(self) -> Labels:
        """The labels of the elements of the page."""
        return Labels(self.elements.all)

    def labelled(self, judge: Callable[[Label], bool], hint: re.Pattern[str] | None = None) -> list[HtmlElement]:
        """The elements whose label the judge accepts, in document order; for the `hint` see `Labels.find`."""
        return [self.elements.all[at] for at, _ in self.labels.find(judge, hint)]

    @cached_property
    def around_headline(self) -> set[HtmlElement]:
        """The elements that contain an h1, whatever their names: they contain the article too."""
        return {kin for h1 in self.elements.of("h1") for kin in h1.iterancestors()}

    @cached_property
    def short_lines(self) -> str:
        """The lines of the page that are too short for prose, in lower case, without notices of rights."""
        short = (line.casefold() for line in self.lines if len(line) < MAX_SHORT_LINE)
        return "\n".join(line for line in short if "©" not in line and "(c)" not in line and "copyright" not in line)

    @cached_property
    def common_words(self) -> frozenset[str]:
        """The words that occur in lower case on the page."""
        return frozenset(word for line in self.lines for word in _WORD.findall(line) if word.islower())

    @cached_property
    def area(self) -> Area:
        """The visible part of the page without menus, filters and footers."""
        return main_area(self.elements, self.labels)

    @cached_property
    def is_stated_article(self) -> bool:
        """True if structured data or OpenGraph name the headline or the day of an article, not only its type."""
        stated = is_article(self.article) and (self.article.get("headline") or self.article.get("datePublished"))
        return bool(stated or self.meta("article:published_time"))

    @property
    def is_declared(self) -> bool:
        """True if the page states, in structured data or OpenGraph, that it is an article."""
        stated = self.article.get("headline") or self.article.get("datePublished")
        return bool(stated or self.meta("article:published_time")) or (self.meta("og:type") or "").lower() == "article"


def once_per_page(judge: Callable[[Page], T]) -> Callable[[Page], T]:
    """Keeps the result of a judgement of the whole page with the page: later calls return the first result."""
    name = f"{judge.__module__}.{judge.__qualname__}"

    @wraps(judge)
    def judged(page: Page) -> T:
        results: dict[str, T] = vars(page)  # where `cached_property` keeps its values
        if name not in results:
            results[name] = judge(page)
        return results[name]

    return judged


def read_page(html: bytes | str, url: str) -> Page:
    """The parsed page of some HTML. Raises NoArticle with FAIL_BAD_HTML or FAIL_PARSE."""
    text = decode(html)
    if len(text) < MIN_HTML_LENGTH:
        raise NoArticle("FAIL_BAD_HTML", f"{len(text)} characters, fewer than {MIN_HTML_LENGTH}")
    if text.lstrip().startswith(("{", "[")):
        raise NoArticle("FAIL_BAD_HTML", "JSON, not HTML")
    tree = parse_html(text)
    if tree is None or not len(tree):
        raise NoArticle("FAIL_PARSE", "no element could be read")
    elements = Elements(tree, MAX_ELEMENTS + 1)
    if len(elements.all) > MAX_ELEMENTS:
        raise NoArticle("FAIL_PARSE", f"{int(float(str(tree.xpath('count(//*)'))))} elements, more than {MAX_ELEMENTS}")
    if "{{" in text:
        clear_placeholders(elements)
    _unwrap_stories(elements)
    show_images(elements)
    settle_formulas(elements)
    settle_posts(elements)
    things = read_things(elements.of("script"))
    return Page(
        url=url,
        base=_base_url(elements.of("base"), url),
        elements=elements,
        raw_len=len(text),
        metas=_read_metas(elements.of("meta")),
        things=things,
        article=article_of(things, url),
    )


def _unwrap_stories(elements: Elements) -> None:
    """Move the article for readers without scripts to the place where the scripts of the page would put it."""
    is_changed = False
    for fallback in elements.of("noscript"):
        if len(fallback) and weigh(fallback)[fallback].prose > MIN_STORY:
            fallback.drop_tag()
            is_changed = True
    if is_changed:
        elements.read()


def decode(html: bytes | str, content_type: str | None = None) -> str:
    """The text of a page's bytes, by `encodings.decode_page`; text is returned unchanged.

    Raises NoArticle for a file of another kind, for bytes that are no text in any encoding, and for a feed or sitemap.
    """
    if isinstance(html, bytes) and (kind := kind_of(html)) is not None:
        raise NoArticle("FAIL_BAD_HTML", f"unsupported_type: {kind}")
    text = decode_page(html, content_type).text if isinstance(html, bytes) else html
    if is_no_text(text):
        raise NoArticle("FAIL_BAD_HTML", "unsupported_type: bytes that are no text")
    if isinstance(html, bytes) and (listing := document_of_links(text)) is not None:
        raise NoArticle("FAIL_BAD_HTML", f"unsupported_type: {listing}")
    return text


def _read_metas(metas: Iterable[HtmlElement]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for element in metas:
        # Twitter's first cards had `value` in place of `content`.
        content = fold(element.get("content") or element.get("value") or "")
        if content and not is_placeholder(content):
            # A property holds a list of names (RDFa Core 1.1 section 5).
            for name in {name for key in _NAMES for name in (element.get(key) or "").lower().split()}:
                found.setdefault(name, []).append(content)
    return {name: tuple(contents) for name, contents in found.items()}


def _base_url(bases: Iterable[HtmlElement], url: str) -> str:
    href = next((base.get("href") for base in bases if base.get("href")), None)
    try:
        joined = urljoin(url, href) if href else url
    except ValueError:
        return url
    return joined if re.match(r"https?://", joined) else url
