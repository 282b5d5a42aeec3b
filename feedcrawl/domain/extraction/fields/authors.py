"""The authors of an article: only names that the publisher states."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from feedcrawl.domain.extraction.fields.bylines import (
    account_byline,
    dated_byline,
    late_byline,
    met_byline,
    noted_byline,
    only_byline,
    plain_byline,
)
from feedcrawl.domain.extraction.fields.marked import MAX_AUTHORS, marked_byline, marked_elements, sidebar_byline
from feedcrawl.domain.extraction.fields.persons import (
    is_organization,
    is_person,
    is_publisher,
    is_user_name,
    split_names,
)
from feedcrawl.domain.extraction.fields.sites import is_news, site_names
from feedcrawl.domain.extraction.fields.stated_authors import meta_authors, structured_authors
from feedcrawl.domain.extraction.kinds import page_kind
from feedcrawl.domain.text import squeezed, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import FeedContent

_CITED = ("citation_title", "dc.title", "dcterms.title", "parsely-title", "sailthru.title")
_OF_GOODS = frozenset({"product"})
_METAS_NAME = "meta elements"
_UNSEEN_ACCOUNT = "an account that no line shows"
_SIGNATURES = ("signature under the headline", "signature elsewhere")


class Signature(NamedTuple):
    """The authors of an article, and the source that decides."""

    source: str
    names: tuple[str, ...]


def find_authors(page: Page, feed: FeedContent | None) -> tuple[str, ...]:
    """The authors' names, in their order."""
    return decide_authors(page, feed).names


def decide_authors(page: Page, feed: FeedContent | None) -> Signature:
    """The authors by structured data, meta elements, the feed or the byline: the first source without doubts.

    A name that readers do not see counts less: it is dropped if it is an account of the publishing system, and a
    signature under the headline replaces it. A publisher that names itself as the author comes last: a person named
    anywhere is the better answer.
    """
    publisher = {squeezed(name) for name in site_names(page)}
    found: dict[str, list[str]] = {}

    def signature() -> list[str]:
        if _SIGNATURES[0] not in found:
            found[_SIGNATURES[0]] = plain_byline(page)
        return found[_SIGNATURES[0]]

    for source, names in author_sources(page, feed):
        found[source] = [text for text in names if source != _METAS_NAME or _is_of_article(text, publisher, page)]
        doubts = {name: _doubt(name, source, publisher, page) for name in _split(found[source], publisher)}
        stated = [name for name, why in doubts.items() if why != _UNSEEN_ACCOUNT]
        others = [name for name, why in doubts.items() if not why]
        deciding = source
        if others and not is_news(page) and not any(_is_shown(name, page) for name in others) and signature():
            deciding, others = _SIGNATURES[0], signature()
        if others:
            others = _as_signed(others, signature())
            signing = _beside_person(others, publisher) if any(map(is_person, others)) else stated
            return Signature(deciding, tuple(signing[:MAX_AUTHORS]))
    return Signature("the publisher itself", _signing_publisher(page, publisher, found))


def judged(source: str, texts: Iterable[str], page: Page) -> Iterator[tuple[str, str]]:
    """The names in the texts of a source, each with the reason why it is no author's name; "" without a reason."""
    publisher = {squeezed(name) for name in site_names(page)}
    for text in texts:
        if source == _METAS_NAME and not _is_of_article(text, publisher, page):
            yield text, "of whoever made the site"
        elif names := _split([text], publisher):
            yield from ((name, _doubt(name, source, publisher, page)) for name in names)
        else:
            yield text, "no name"


def _doubt(name: str, source: str, publisher: set[str], page: Page) -> str:
    if is_user_name(name) and not _is_shown(name, page):
        return _UNSEEN_ACCOUNT
    if not _is_other(name, source, publisher):
        return "the publisher"
    return "an organization" if is_organization(name) and not is_news(page) else ""


def _is_other(name: str, source: str, publisher: set[str]) -> bool:
    """True if a name differs from the publisher's; a person who signs wrote the text, even on a site of that name."""
    is_signed = source in _SIGNATURES and is_person(name) and not is_organization(name)
    return is_signed or not is_publisher(name, publisher)


def _is_of_article(text: str, publisher: set[str], page: Page) -> bool:
    """True if a name in a meta element is that of the article's author and not that of the maker of the site.

    Publishing systems write the maker's name into all pages of a site: readers do not see the name, which is a
    company's, or the page states nothing else.
    """
    if _is_host(text, page) or any(_is_shown(name, page) for name in (text, *split_names(text))):
        return True
    return not is_organization(text) and not is_publisher(text, publisher) and _states_itself(page)


def _is_host(name: str, page: Page) -> bool:
    """True if the site's host consists of the name of a person: karl-voit.at."""
    host = urlsplit(page.url).hostname or ""
    labels = {squeezed(label) for label in host.split(".")}
    return is_person(name) and not is_organization(name) and squeezed(name) in labels


def _states_itself(page: Page) -> bool:
    """True if the page has a title for sharing, or states that it is an article."""
    return page.is_declared or page.meta("og:title", "twitter:title", *_CITED) is not None


def _as_signed(names: list[str], signature: list[str]) -> list[str]:
    """The signature under the headline, if it contains all names and adds persons, or gives a first name in full."""
    known = [set(words(name)) for name in signature if is_person(name)]
    is_whole = all(any(set(words(name)) <= each for each in known) for name in names)
    is_more = len(known) > len(names) or any(len(name.split()) == 1 for name in names)
    return signature if is_whole and is_more and len(known) == len(signature) else names


def _beside_person(names: list[str], publisher: set[str]) -> list[str]:
    """The names without the publisher's offices: "MDR Berlin" of "MDR"."""
    return [name for name in names if squeezed(name.partition(" ")[0]) not in publisher or is_person(name)]


def author_sources(page: Page, feed: FeedContent | None) -> Iterator[tuple[str, Iterable[str]]]:
    """The sources of authors by name, the most trusted first, each with its names."""
    yield "structured data", structured_authors(page)
    yield _METAS_NAME, meta_authors(page)
    yield "feed", feed.authors if feed else ()
    if page_kind(page) in _OF_GOODS:  # names in these places are brands and reviewers
        return
    yield "signature under the headline", plain_byline(page)
    marked = marked_elements(page)
    yield "element named byline", marked_byline(page, marked)
    yield "account's signature under the headline", account_byline(page)
    yield "signature elsewhere", late_byline(page)
    if not is_news(page):  # where a publisher that signs alone is the author
        yield "name with a note on it", met_byline(page)
        yield "name beside a date or a role", dated_byline(page)
        yield "note on the author", noted_byline(page)
        yield "element named byline beside the text", sidebar_byline(page, marked)
        yield "only signature of the page", only_byline(page)


def _signing_publisher(page: Page, publisher: set[str], found: dict[str, list[str]]) -> tuple[str, ...]:
    """The author with the site's name: a person with an own site; an organization on news pages or in bylines."""
    persons = [name for name in _split(found["meta elements"], publisher) if is_person(name)]
    structured = [
        name
        for name in _split(found["structured data"], publisher)
        if is_person(name) or _is_shown(name, page) or (is_news(page) and is_publisher(name, publisher))
    ]
    signed = (found.get(source, []) for source in ("element named byline", "account's signature under the headline"))
    last = next((names for texts in signed if (names := _split(texts, publisher))), [])
    return tuple(structured or persons or last)[:MAX_AUTHORS]


def _is_shown(name: str, page: Page) -> bool:
    """True if a short line of the page contains a name."""
    return name.casefold() in page.short_lines


def _split(texts: Iterable[str], publisher: set[str]) -> list[str]:
    """The single names of all texts; for a publisher with its address ("The Daily, Berlin, Germany") only the name."""
    parts = (text.partition(",")[0] if _is_signed_by(text, publisher) else text for text in texts)
    whole = ([part] if squeezed(part) in publisher else split_names(part) for part in parts)
    return list(dict.fromkeys(chain.from_iterable(whole)))


def _is_signed_by(text: str, publisher: set[str]) -> bool:
    name, comma, _ = text.partition(",")
    return bool(comma) and squeezed(name) in publisher
