"""What kind of page a page is, where that decides how it is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from feedcrawl.domain.extraction.structured import values

if TYPE_CHECKING:
    from feedcrawl.domain.extraction.page import Page

PageKind = Literal["article", "documentation", "forum", "listing", "product", "question"]
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
    r"|/topics?/[\w-]*\d|/topic[-_]|/t/[\w-]+/\d|/post/\d+/?\?*$"
)
_FORUM_HOST = re.compile(r"^(?:forums?|boards?|community|discuss|discourse)\.")


def page_kind(page: Page) -> PageKind:
    """The kind of a page: `question` with its answers, `forum` for another thread of posts, `product`, `listing` of
    links or things, `documentation`, and `article` for all others.

    Told by structured data, the software that made a page, or its URL. What names comments elsewhere names the posts of
    forums, and comments beside the answers to a question.
    """
    kinds = {str(kind) for thing in page.things for kind in values(thing.get("@type"))}
    if "QAPage" in kinds or (page.tree.get("itemtype") or "").endswith("/QAPage"):
        return "question"
    if not kinds.isdisjoint(_FORUM_TYPES) or _FORUM_SOFTWARE.search(page.meta("generator") or ""):
        return "forum"
    if page.is_declared and page.article.get("headline"):
        return "documentation" if not kinds.isdisjoint(_DOCUMENTATION_TYPES) else "article"
    parts = urlsplit(page.url)
    if _FORUM_PATH.search(f"{parts.path}?{parts.query}") or _FORUM_HOST.match(parts.hostname or ""):
        return "forum"
    return _undeclared_kind(page, kinds)


def _undeclared_kind(page: Page, kinds: set[str]) -> PageKind:
    """The kind of a page that is neither a thread nor an article by its own statement."""
    parts = urlsplit(page.url)
    if "Product" in kinds or (page.meta("og:type") or "").lower() in {"product", "product.item", "og:product"}:
        return "listing" if not kinds.isdisjoint(_LISTING_TYPES) else "product"
    if not kinds.isdisjoint(_DOCUMENTATION_TYPES) or _DOCUMENTATION_SOFTWARE.search(page.meta("generator") or ""):
        return "documentation"
    if _DOCUMENTATION_HOST.match(parts.hostname or "") or _DOCUMENTATION_PATH.search(parts.path):
        return "documentation"
    return "listing" if not kinds.isdisjoint(_LISTING_TYPES) and not page.is_declared else "article"
