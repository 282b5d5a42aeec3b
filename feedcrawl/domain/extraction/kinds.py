"""What kind of page a page is, where that decides how it is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from feedcrawl.domain.extraction.structured import values

if TYPE_CHECKING:
    from feedcrawl.domain.extraction.page import Page

PageKind = Literal["forum", "question", "article"]

_FORUM_TYPES = frozenset({"DiscussionForumPosting", "SocialMediaPosting"})
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
    """`question` with its answers, `forum` for another thread of posts, else `article`.

    Told by structured data, the software that made a page, or its URL. What names comments elsewhere names the posts of
    forums, and comments beside the answers to a question.
    """
    kinds = {str(kind) for thing in page.things for kind in values(thing.get("@type"))}
    if "QAPage" in kinds or (page.tree.get("itemtype") or "").endswith("/QAPage"):
        return "question"
    if not kinds.isdisjoint(_FORUM_TYPES) or _FORUM_SOFTWARE.search(page.meta("generator") or ""):
        return "forum"
    if page.is_declared and page.article.get("headline"):
        return "article"
    parts = urlsplit(page.url)
    is_forum = _FORUM_PATH.search(f"{parts.path}?{parts.query}") or _FORUM_HOST.match(parts.hostname or "")
    return "forum" if is_forum else "article"
