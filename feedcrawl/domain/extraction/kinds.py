"""The kind of a page, where the kind decides how the page is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from feedcrawl.domain.extraction.page import once_per_page
from feedcrawl.domain.extraction.structured import values

if TYPE_CHECKING:
    from feedcrawl.domain.extraction.page import Page

PageKind = Literal["article", "documentation", "forum", "listing", "product", "question", "service"]
THREADS = frozenset({"forum", "question"})
"""Kinds that have several authors' posts one after another."""

_FORUM_TYPES = frozenset({"DiscussionForumPosting", "SocialMediaPosting"})
_LISTING_TYPES = frozenset({"CollectionPage", "ItemList", "OfferCatalog", "SearchResultsPage", "ProductCollection"})
_DOCUMENTATION_TYPES = frozenset({"TechArticle", "APIReference"})
_DOCUMENTATION_SOFTWARE = re.compile(
    r"sphinx|docusaurus|mkdocs|gitbook|vitepress|vuepress|antora|docsify|readme\.com|mintlify|rustdoc|javadoc|starlight",
    re.IGNORECASE,
)
_DOCUMENTATION_HOST = re.compile(r"^(?:docs?|developers?|devdocs|api|manual|help|support|wiki)\.|.*\.readthedocs\.")
_DOCUMENTATION_PATH = re.compile(r"/(?:docs?|documentation|manual|reference|api-?docs|wiki|javadoc)/")
_FORUM_SOFTWARE = re.compile(
    r"xenforo|phpbb|discourse|vbulletin|invision|ips community|mybb|simple machines|flarum|nodebb|lemmy|woltlab",
    re.IGNORECASE,
)
_FORUM_PATH = re.compile(
    r"/(?:forums?|threads?|boards?|discussions?|questions|issues|talk|comments)/[\w-]|viewtopic|showthread"
    r"|/topics?/[\w-]*\d|/topic[-_,]|[?&;]topic=\d|/t/[\w-]+/\d|/(?:view)?thread-|viewthread|/post/\d+/?\?*$"
)
_THREAD_PAGE = re.compile(
    r"section-viewtopic|(?<![\w-])thread_view(?![\w-])|pg_viewthread|(?<![\w-])(?:page|template)-topic(?![a-z])"
    r"|vanilla_discussion_index|ForumTopicPage|(?<![\w-])bbpress(?![\w-])|node-type-forum|(?<![\w-])comments-page(?![\w-])"
    r"|forums topic(?![\w-])",
)
"""Names on the html and body elements of threads: phpBB, XenForo, Discuz, NodeBB, Vanilla, Khoros, bbPress, Drupal,
Reddit, Invision.
"""
_NAMING = ("id", "class", "data-template", "data-pageapp", "data-pagecontroller")
_FORUM_HOST = re.compile(r"^(?:forums?|boards?|community|discuss|discourse)\.")
_PRODUCT_PATH = re.compile(r"/(?:products?|p|dp|pdp|itm|item|app|sku)/[^/]")
_LISTING_PATH = re.compile(
    r"/(?:categor(?:y|ies)|product-(?:category|tag)|tags?|topics?|genres?|collections?|brands?|departments?|catalog(?:ue)?s?"
    r"|shop|store|buy|browse|search|lists?|charts?|trending|archives?|issues|all|b|c|cat|l)(?:/|$)"
    r"|/(?:news|blog|articles|products|recipes)/?$",
    re.IGNORECASE,
)
_SHOP_PATH = re.compile(
    r"/(?:categories|(?:product-)?category|collections|browse|catalog(?:ue)?|shop|departments?|c)/[^/]"
)
_STORY_PATH = re.compile(
    r"/(?:blogs?|news|articles?|posts?|stor(?:y|ies)|insights?|magazine|press|releases?|archives?|\d{4})(?:/|-|$)",
    re.IGNORECASE,
)
_NUMBERED_QUERY = re.compile(r"=\d{3,}(?:&|$)")
_SUFFIX = re.compile(r"\.\w+$")
_NUMBER = re.compile(r"\d{4}|[0-9a-f]{16}")
_SLUG_WORD = re.compile(r"[^-_]+")
_LONGEST_SLUG = 3  # words in the last segment of a path; a headline has more

_ITEMS_OUTWEIGH = 1.0  # where the URL or structured data name a listing
_ITEMS_OUTWEIGH_UNNAMED = 2.5
_ITEMS_OUTWEIGH_STATEMENT = 5.0  # that the page is an article
_LINKS_OUTWEIGH, _LINKS_DENSITY = 10.0, 0.6  # of indexes in manuals and encyclopedias
_ITEM_DENSITY = 0.3
_LONGEST_ITEM, _LONGEST_NAMED_ITEM = 500, 900  # letters, on the mean; longer ones are sections of a text


@once_per_page
def page_kind(page: Page) -> PageKind:
    """The kind of a page: `question` with its answers, `forum` for another thread of posts, `product`, `listing` of
    links or things, `documentation`, and `article` for all others. A service is recognised later, by its text
    (`may_be_service`).

    Structured data, the software that made the page, or its URL decide; a listing is also recognised by its items, if
    they outweigh the prose beside them. Names that mark comments on other pages mark posts on pages of forums, and
    comments beside the answers on pages of questions.
    """
    stated = stated_kind(page)
    return "listing" if stated not in THREADS and lists_items(page, stated) else stated


def stated_kind(page: Page) -> PageKind:
    """The kind of a page by its own statements and its URL, without its visible items."""
    kinds = {str(kind) for thing in page.things for kind in values(thing.get("@type"))}
    items = _item_types(page)
    if "QAPage" in kinds or "QAPage" in items:
        return "question"
    if not kinds.isdisjoint(_FORUM_TYPES) or "DiscussionForumPosting" in items:
        return "forum"
    if _FORUM_SOFTWARE.search(page.meta("generator") or ""):
        return "forum"
    if page.is_declared and page.article.get("headline"):
        return "documentation" if not kinds.isdisjoint(_DOCUMENTATION_TYPES) else "article"
    parts = urlsplit(page.url)
    if _FORUM_PATH.search(f"{parts.path}?{parts.query}") or _FORUM_HOST.match(parts.hostname or ""):
        return "forum"
    if _THREAD_PAGE.search(_names_of_page(page)):
        return "forum"
    return _undeclared_kind(page, kinds)


def _item_types(page: Page) -> set[str]:
    """The names of the types of the page's microdata."""
    types = (page.elements.all[at].get("itemtype", "") for at in page.labels.having("itemtype"))
    return {name.rpartition("/")[2] for value in types for name in value.split()}


def _names_of_page(page: Page) -> str:
    """The names on the html and body elements."""
    body = page.tree.find("body")
    elements = (page.tree, body) if body is not None else (page.tree,)
    return " ".join(element.get(name) or "" for element in elements for name in _NAMING)


def may_be_service(page: Page) -> bool:
    """True for a page that may present a service, a company or a place.

    Such a page does not state that it is an article, and its URL is not that of a story.
    """
    return not page.is_stated_article and not is_story(page) and not is_product_url(page.url)


def is_story(page: Page) -> bool:
    """True for a URL with the words of a headline, a number in its query, or a date or a word for stories in its path;
    and for a URL without a path, unless the page states that it is the front page of a website.
    """
    parts = urlsplit(page.url.strip())
    path = parts.path
    if _has_no_path(page):
        return (page.meta("og:type") or "").lower() != "website"
    is_named = _STORY_PATH.search(path) or _NUMBERED_QUERY.search(parts.query)
    return bool(is_named) or _slug_words(path) > _LONGEST_SLUG


def is_shelf_url(url: str) -> bool:
    """True for a URL of a category of a shop or a catalogue."""
    return bool(_SHOP_PATH.search(urlsplit(url).path))


def is_product_url(url: str) -> bool:
    """True for a URL of one thing in a shop."""
    return bool(_PRODUCT_PATH.search(url)) and not _LISTING_PATH.search(urlsplit(url).path)


def lists_items(page: Page, stated: PageKind) -> bool:
    """True if a page's items outweigh its prose; a page that is stated to be a listing needs less weight."""
    is_named = stated == "listing" or bool(_LISTING_PATH.search(urlsplit(page.url).path))
    least = _least_weight(page, stated, is_named=is_named)
    if least is None:
        return False
    items, density = page.area.items, page.area.density
    if items.outweigh <= least or items.mean_length >= (_LONGEST_NAMED_ITEM if is_named else _LONGEST_ITEM):
        return False
    return is_named or density > (_LINKS_DENSITY if stated == "documentation" else _ITEM_DENSITY)


def _least_weight(page: Page, stated: PageKind, *, is_named: bool) -> float | None:
    """The least weight of the items of a listing, as a multiple of its prose; None if the items need not be weighed."""
    if stated == "documentation":
        return _LINKS_OUTWEIGH
    if page.is_stated_article:
        return _ITEMS_OUTWEIGH_STATEMENT if is_named else None
    if not is_named and (stated == "product" or is_product_url(page.url)):
        return None
    if is_named or not is_story(page):
        return _ITEMS_OUTWEIGH if is_named else _ITEMS_OUTWEIGH_UNNAMED
    return _ITEMS_OUTWEIGH_STATEMENT if _has_no_path(page) else None


def _has_no_path(page: Page) -> bool:
    return urlsplit(page.url).path in {"", "/"}


def _slug_words(path: str) -> int:
    """The words in the last segment of a path; numbers and hashes count as words of a headline."""
    last = _SUFFIX.sub("", path.rstrip("/").rpartition("/")[2])
    words = _SLUG_WORD.findall(last)
    return len(words) if not _NUMBER.search(last) else _LONGEST_SLUG + 1


def _undeclared_kind(page: Page, kinds: set[str]) -> PageKind:
    """The kind of a page that is by its own statements neither a thread nor an article."""
    parts = urlsplit(page.url)
    og_type = (page.meta("og:type") or "").lower()
    if "Product" in kinds or og_type in {"product", "product.item", "og:product"}:
        return "listing" if not kinds.isdisjoint(_LISTING_TYPES) else "product"
    if not kinds.isdisjoint(_DOCUMENTATION_TYPES) or _DOCUMENTATION_SOFTWARE.search(page.meta("generator") or ""):
        return "documentation"
    on_host = _DOCUMENTATION_HOST.match(parts.hostname or "") and not _STORY_PATH.search(parts.path)
    if on_host or _DOCUMENTATION_PATH.search(parts.path):
        return "documentation"
    is_listing = not kinds.isdisjoint(_LISTING_TYPES) or og_type in {"product.group", "product:group"}
    return "listing" if is_listing and not page.is_declared else "article"
