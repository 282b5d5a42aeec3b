"""Pages with status 200 and without an article: walls, challenges, soft 404s, teasers, indexes.

Most of them are short. A long text is an article even if it mentions cookies, unless it is about nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.errors import NoArticle
from feedcrawl.domain.extraction.fields.sites import SEPARATOR, is_front
from feedcrawl.domain.extraction.structured import values
from feedcrawl.domain.extraction.walls.words import DIRECTORY_TITLE, LOGIN_TITLE, WALL_WORDS
from feedcrawl.domain.text import text_of, words

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.page import Page

MIN_WORDS = 3
MIN_UNSPACED_LENGTH = 20  # some scripts do not part words
FEW_WORDS, FEW_CHARS = 12, 60
"""A text with fewer words and characters, on a page that scripts fill, is the page's frame: a headline or a footer."""
WALL_LENGTH = 700
TEASER_LENGTH = 400
_INDEX_LINKS = 20
_INDEX_WORDS = 4
_INDEX_LENGTH = 1500

_DECLARED_LENGTH = 200
_CONSENT_LENGTH, _CONSENT_PHRASES, _CONSENT_DENSITY = 4000, 3, 1 / 500
_IN_HEADLINES = ("challenge", "unavailable", "not_found", "parked")
_TITLE_AND_SITE = 2
_LONGEST_WALL = 100_000  # a search in 3 MB of one word takes 11 s
_OF_ARTICLES = frozenset({"javascript", "consent", "paywall"})  # walls that stand before an article of that page


def refuse_walls(page: Page, text: str, density: float = 0.0) -> None:
    """Raise NoArticle if the text found on a page is no article; its detail begins with the kind of page.

    `density` is the share of the text that is links.
    """
    kind = wall_kind(page, text) if len(text) < WALL_LENGTH else _long_wall_kind(page, text)
    if kind:
        raise NoArticle("FAIL_EMPTY", f"{kind}: {text[:120]!r}")
    if _is_empty(text):
        raise NoArticle("FAIL_EMPTY", f"no_text: fewer than {MIN_WORDS} words: {text!r}")
    if _is_frame(text) and any(map(_runs, page.elements.of("script"))):
        raise NoArticle("FAIL_EMPTY", f"scripts: nothing but {text!r} without them")
    if not page.is_declared and _is_index(page, text, density):
        raise NoArticle("FAIL_EMPTY", f"index: links to other pages around {len(text)} characters of text")


def refuse_title(page: Page) -> None:
    """Raise NoArticle for a page that its title and structure show to be no article, whatever the length of its text.

    That is the listing of a directory, which shows its title first, or a login page, which asks for a password.
    """
    title = page.title_element
    if DIRECTORY_TITLE.fullmatch(title) and page.lines and page.lines[0].startswith(title):
        raise NoArticle("FAIL_EMPTY", f"index: the listing of a directory, {title[:120]!r}")
    parts = SEPARATOR.split(title)
    if page.is_stated_article or len(parts) > _TITLE_AND_SITE or not any(map(LOGIN_TITLE.fullmatch, parts)):
        return
    if any((field.get("type") or "").lower() == "password" for field in page.elements.of("input")):
        raise NoArticle("FAIL_EMPTY", f"login: asks for a password under the title {title[:120]!r}")


def refuse_headline(page: Page, text: str, density: float) -> None:
    """Raise NoArticle if the headline of a listing, a manual or a product is that of a wall.

    Also if the page has no text, or is a front page that consists of links. `text` and `density` are those of the main
    area, whose items may mention anything.
    """
    headlines = "\n".join((page.title_element, *(heading for _, heading in page.headings)))
    kind = next((kind for kind in _IN_HEADLINES if WALL_WORDS[kind].search(headlines)), None)
    if kind or _is_empty(text):
        raise NoArticle("FAIL_EMPTY", f"{kind or 'no_text'}: {headlines[:120]!r}")
    if is_front(page.url) and _is_index(page, text, density):
        raise NoArticle("FAIL_EMPTY", f"index: links to other pages around {len(text)} characters of text")


def wall_kind(page: Page, text: str) -> str | None:
    """The kind of wall of a page with a short text; None if it is no wall.

    News may be short too and report that something was not found: a page that declares an article can only be a wall
    that stands before articles, unless it has next to no text.
    """
    shown = f"{page.title_element}\n{_everything(page) if _is_empty(text) else text}"[:_LONGEST_WALL]
    is_article = page.is_declared and len(text) >= _DECLARED_LENGTH
    possible = _OF_ARTICLES if is_article else WALL_WORDS.keys()
    kind = next((kind for kind, phrases in WALL_WORDS.items() if kind in possible and phrases.search(shown)), None)
    if kind == "paywall" and len(text) >= TEASER_LENGTH:
        return None
    if kind is None and len(text) < TEASER_LENGTH and is_paid(page):
        return "teaser"
    return kind


def _long_wall_kind(page: Page, text: str) -> str | None:
    """`consent` for a long text that is full of questions for consent; None for others."""
    if page.is_declared or len(text) > _CONSENT_LENGTH:
        return None
    found = [match[0].lower() for match in WALL_WORDS["consent"].finditer(f"{page.title_element}\n{text}")]
    is_full = len(set(found)) >= _CONSENT_PHRASES and len(found) >= _CONSENT_DENSITY * len(text)
    return "consent" if is_full else None


def is_paid(page: Page) -> bool:
    """True if the page states that its article is not free (https://schema.org/isAccessibleForFree)."""
    free = [str(value).lower() for value in values(page.article.get("isAccessibleForFree"))]
    return (bool(free) and free[0] in {"false", "no", "0"}) or page.meta("article:content_tier") in {
        "locked",
        "metered",
    }


def _is_empty(text: str) -> bool:
    return len(text) < MIN_UNSPACED_LENGTH and len(words(text)) < MIN_WORDS


def _is_frame(text: str) -> bool:
    return len(text) < FEW_CHARS and " " in text and len(words(text)) < FEW_WORDS


def _runs(script: HtmlElement) -> bool:
    """True for a script; other types are data blocks (HTML, 4.12.1)."""
    kind = (script.get("type") or "").strip().lower()
    return not kind or kind == "module" or kind.endswith(("javascript", "ecmascript", "jscript"))


def _everything(page: Page) -> str:
    """The whole text of a page without an article, its advice to readers without scripts included."""
    hints = " ".join(str(text) for hint in page.elements.of("noscript") for text in hint.itertext())
    shown = "\n".join(page.lines)
    return f"{shown[:WALL_LENGTH]}\n{hints[:WALL_LENGTH]}"


def _is_index(page: Page, text: str, density: float) -> bool:
    """True if the headlines that lead to other pages outweigh the text; on a front page less is enough."""
    own_length = len(text) * (1 - density)
    if own_length > _INDEX_LENGTH:
        return False
    links = [label for link in page.elements.of("a") if len(words(label := text_of(link))) >= _INDEX_WORDS]
    return len(links) >= _INDEX_LINKS and sum(map(len, links)) > (2 if is_front(page.url) else 10) * own_length
