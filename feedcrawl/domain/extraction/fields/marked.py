"""Bylines in elements that are marked as bylines: `rel=author`, `itemprop=author`, hCards, classes."""

from __future__ import annotations

import re
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.bodies.weights import in_names, names
from feedcrawl.domain.extraction.fields.headline import headline_at
from feedcrawl.domain.extraction.fields.persons import MAX_NAME_WORDS, is_person, split_names
from feedcrawl.domain.extraction.fields.signing_words import SIGNED
from feedcrawl.domain.extraction.fields.sites import is_front
from feedcrawl.domain.extraction.labels import is_hidden
from feedcrawl.domain.text import lowered, squeezed, text_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.labels import Label
    from feedcrawl.domain.extraction.page import Page

MAX_AUTHORS = 20
MAX_BYLINE_LENGTH = 160
MAX_ELEMENTS = 300
_NO_MARK = frozenset({"script", "style", "meta", "link", "body", "h1"})
_NEAR = 9  # lines under the headline
_CARD = 30  # elements of a box with a headline, a picture and a byline
_is_byline_named = in_names(
    re.compile(
        r"(?<![A-Za-z])(?:by-?lines?|authors?|autor(?:en|in|es)?|auteurs?|autore|author-?name|writer|journalist|contributors?"
        r"|attribution|firma)(?![A-Za-z])"
        r"|[a-z]Author(?:Name|List)?(?![a-z])|author(?:Name|_name)|[a-z]Byline",
    ),
    *("by", "aut", "tribut", "writer", "journalist", "firma"),
)
_ELSEWHERE = frozenset({"nav", "aside", "footer", "figure", "figcaption", "blockquote", "form"})
_is_elsewhere_named = in_names(
    re.compile(r"comment|related|recommend|teaser|sidebar|quote|promo(?!ted)|nav(?![a-z])|popular", re.IGNORECASE)
)
_HANDLE = re.compile(r"[A-Z][a-z]+[A-Z][A-Za-z]+$|[A-Z]\w+ [A-Z]\w+ [-–|] ")  # "HackerYou", "Ann Lee - Marketing"
_NAME = re.compile(r"(?:^|[-_\s])(?:name|fn)(?:\s|$)")
_CARD_NAMES = re.compile(r"(?:^|\s)(?:vcard|h-card|p-author)(?:\s|$)")  # https://microformats.org/wiki/h-card
_is_anothers_named = in_names(
    re.compile(r"comment|related|recommend|teaser|quote|popular|\bpopup|reply", re.IGNORECASE)
)
_TOPIC_PAGE = re.compile(
    r"/(?:categor(?:y|ies)|kategorien?|categoria|categorie|tags?|topics?|themen?|rubrik)/", re.IGNORECASE
)
AUTHOR_PAGE = re.compile(
    r"/(?:a(?:uthors?|utor(?:en|es|a|i)?|uteurs?)|p(?:rofil(?:es?|s)?|eople|ersons?)|staff|re(?:porters?|daktion)|journalists?"
    r"|co(?:ntributors?|lumnists?)|team|by)/[^/?#]+/?(?:[?#]|$)|/aut(?:hor|or)[-_=]"
)
"""For lower-case addresses of links."""


def marked_elements(page: Page) -> list[HtmlElement]:
    """The elements that a standard, their class or their id marks as bylines, and that are small enough."""
    around = page.around_headline
    return [e for e in page.labelled(_is_marked) if e not in around and _is_box(e)]


def marked_byline(page: Page, marked: list[HtmlElement]) -> list[str]:
    """The names in the first element that is marked as a byline, and in the elements beside it."""
    around = page.around_headline
    own = (e for e in marked if not _is_elsewhere(e, around) and not _is_in_teaser(e, page))
    return _first_named(list(own), page)


def sidebar_byline(page: Page, marked: list[HtmlElement]) -> list[str]:
    """The person in marked elements beside the text, if all of them name the same person."""
    found = {
        name
        for element in marked
        if not is_hidden(element) and not _is_anothers(element) and not _is_in_teaser(element, page)
        for name in _names_in(element, page)
        if is_person(name)
    }
    return list(found) if len(found) == 1 else []


def _first_named(marked: list[HtmlElement], page: Page) -> list[str]:
    outer = {parent for element in marked for parent in element.iterancestors()}
    for element in sorted(marked, key=lambda element: element in outer):
        found = _names_in(element, page)
        if found:
            beside = _beside(element, marked)
            return [name for other in beside for name in _names_in(other, page)] if len(beside) < MAX_AUTHORS else found
    return []


def _beside(element: HtmlElement, marked: list[HtmlElement]) -> list[HtmlElement]:
    """The marked elements of the same list, the element itself included; only those with a link if it has one."""
    parent, is_linked = element.getparent(), bool(_linked_names(element))
    alike = (other for other in marked if other.getparent() is parent and other.tag == element.tag)
    return [other for other in alike if not is_linked or _linked_names(other)]


def _is_marked(label: Label) -> bool:
    if label.tag in _NO_MARK:
        return False
    return _is_byline_named(label.names) or "author" in label.rel.split() or "author" in label.itemprop.split()


def _is_box(element: HtmlElement, most: int = MAX_ELEMENTS) -> bool:
    """True if an element is small enough to be a byline with a biography."""
    return next(islice(element.iter(), most, None), None) is None


def _is_elsewhere(element: HtmlElement, around: set[HtmlElement]) -> bool:
    """True if an element is hidden, or in a part of the page that is not the article's; elements `around` an h1 are."""
    return is_hidden(element) or any(
        is_hidden(kin)
        or (kin.tag in _ELSEWHERE and not _is_footer_of_article(kin))
        or (kin not in around and kin.tag != "body" and _is_elsewhere_named(names(kin)))
        for kin in element.iterancestors()
    )


def _is_footer_of_article(element: HtmlElement) -> bool:
    """True if a footer is that of an article (HTML section 4.3.8), where the author may be."""
    return element.tag == "footer" and any(kin.tag == "article" for kin in element.iterancestors())


def _is_anothers(element: HtmlElement) -> bool:
    """True if an element is in a comment, a quotation, or a list of other articles."""
    return any(
        kin.tag in {"nav", "blockquote", "form"} or (kin.tag != "body" and _is_anothers_named(names(kin)))
        for kin in (element, *element.iterancestors())
    )


def _is_in_teaser(element: HtmlElement, page: Page) -> bool:
    """True if an element is in a small box with a headline that leads to another article."""
    around, titles = page.around_headline, squeezed(f"{page.meta('og:title')} {page.title_element}")
    if is_front(page.url):  # it has nothing else
        return False
    boxes = takewhile(lambda kin: kin not in around and _is_box(kin, _CARD), element.iterancestors())
    headings = (heading for box in boxes for heading in box.iter("h2", "h3", "h4"))
    return any(h.find(".//a") is not None and squeezed(text_of(h)) not in titles for h in headings)


def _names_in(element: HtmlElement, page: Page) -> list[str]:
    """The names in a byline: its links, which lead to authors' pages, else its text, else the beginning of a note."""
    named = next((e for e in element.iterdescendants() if e.get("itemprop") == "name" or _is_named_name(e)), None)
    is_note = named is not None and len(text_of(element)) > MAX_BYLINE_LENGTH  # whose links lead to the author's works
    linked = _linked_names(named if is_note else element)
    whole = text_of(named if named is not None else element)
    # If links make up the byline, each is a name; among other text, the first link is the author's.
    rest = len(squeezed(whole)) - sum(len(squeezed(text)) for text in linked)
    texts = linked if rest <= MAX_NAME_WORDS * len(linked) else linked[:1]
    texts = texts or ([whole] if len(whole) <= MAX_BYLINE_LENGTH else _heads(element))
    stated = _is_stated(element, page)
    found = [name for text in texts for name in split_names(text)]
    is_byline = stated or any(is_person(name) or _HANDLE.match(name) for name in found)
    return [name for name in found if is_byline and (stated or name[:1].upper() == name[:1])]


def _is_stated(element: HtmlElement, page: Page) -> bool:
    """True if a standard or its words mark an element as an author's, so that an account's name in it counts too."""
    return (
        "author" in f"{element.get('rel')} {element.get('itemprop')}"
        or SIGNED.match(lowered(text := text_of(element))) is not None
        or (_CARD_NAMES.search(element.get("class") or "") is not None and _is_under_headline(text, page))
    )


def _is_under_headline(text: str, page: Page) -> bool:
    at = headline_at(page)
    return at is not None and any(text in line for line in page.lines[at + 1 : at + _NEAR])


def _heads(element: HtmlElement) -> list[str]:
    heads = (text_of(e) for e in element.iter("h2", "h3", "h4", "h5", "h6", "strong", "b"))
    return list(islice(filter(is_person, heads), 1))


def _is_named_name(element: HtmlElement) -> bool:
    return _NAME.search(element.get("class") or "") is not None


def _linked_names(element: HtmlElement) -> list[str]:
    return [text for link in element.iter("a") if not _is_of_topic(link) and any(split_names(text := text_of(link)))]


def _is_of_topic(link: HtmlElement) -> bool:
    return "tag" in (link.get("rel") or "").split() or _TOPIC_PAGE.search(link.get("href") or "") is not None
