"""The posts of a thread, each with its author and its instant if the page names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.kinds import THREADS, page_kind
from feedcrawl.domain.extraction.threads.boxes import seen_posts
from feedcrawl.domain.extraction.threads.statements import (
    has_first_item,
    posts_of_entries,
    posts_of_microdata,
    posts_of_things,
)

if TYPE_CHECKING:
    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.models import Post

MAX_BYTES = 256 * 1024
"""Bytes of the texts of all posts, in UTF-8; the list ends before the post that has more."""


def find_posts(page: Page) -> tuple[Post, ...]:
    """The posts of a thread in their order, at most 100 and MAX_BYTES; none for a page of another kind.

    The statement with the most posts is used: JSON-LD, microdata or microformats. The visible posts are used if no
    statement has two posts, or if there are more visible posts and the statement may be incomplete: JSON-LD with a part
    of the replies, microdata with replies alone. A thread without replies is its only stated post.
    """
    if page_kind(page) not in THREADS:
        return ()
    things, items, entries = posts_of_things(page), posts_of_microdata(page), posts_of_entries(page)
    stated = max(items, things, entries, key=len)
    if len(stated) > 1 and (stated is entries or (stated is items and (things or has_first_item(page)))):
        return _bounded(stated)
    seen = seen_posts(page)
    return _bounded(seen if len(seen) > len(stated) else stated)


def _bounded(posts: list[Post]) -> tuple[Post, ...]:
    size, fitting = 0, 0
    for post in posts:
        size += len(post.text.encode("utf-8", "replace"))
        if size > MAX_BYTES:
            break
        fitting += 1
    return tuple(posts[:fitting])
