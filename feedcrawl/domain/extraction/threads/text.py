"""The text of a thread: the text of its posts, without the panels and buttons around them and without the quotations
that repeat a post of the page.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.bodies.polish import drop_repeats, grams, lines
from feedcrawl.domain.extraction.bodies.weights import in_names, names
from feedcrawl.domain.markup import drop_all
from feedcrawl.domain.text import canonical_text, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.bodies.polish import Grams
    from feedcrawl.domain.models import Post

_FEWEST = 2
_COVERED = 0.8  # of the posts, by the body
_SEEN = 0.5  # of a line, in the posts
_SHORT = 4  # words; shorter lines are those of the posts letter by letter
_is_panel = in_names(
    re.compile(
        r"signature|(?<![a-z])sig_text|message-(?:cell--)?user(?![a-z])|post-?profile|user-?(?:info|extras)"
        r"|author-?(?:pane|info)",
        re.IGNORECASE,
    ),
    "sig", "user", "profile", "author",
)  # fmt: skip
"""True for names of signatures and of panels on members, as XenForo, phpBB, FluxBB and Stack Exchange give them."""


def clear_thread(body: HtmlElement, posts: Sequence[Post]) -> None:
    """Remove what is around the posts of a thread, and quotations of its own posts."""
    keep_posts(body, posts)
    _drop_panels(body, {_folded(post.author) for post in posts if post.author})
    drop_repeats(body, math.inf)


def _drop_panels(body: HtmlElement, authors: set[str]) -> None:
    """Remove signatures and panels on members; of a panel that names an author of posts, that name stays."""
    panels = [element for element in body.iterdescendants("*") if _is_panel(names(element))]
    inner = set(panels)
    unnamed: list[HtmlElement] = []
    for panel in [panel for panel in panels if inner.isdisjoint(panel.iterancestors())]:
        texts = (canonical_text(part) for part in (*lines(panel), *panel.iter("a"), panel))
        author = next((text for text in texts if _folded(text) in authors), None)
        if author is None:
            unnamed.append(panel)
        else:
            tail = panel.tail
            panel.clear()
            panel.tag, panel.text, panel.tail = "p", author, tail
    drop_all(body, unnamed)


def _folded(text: str) -> str:
    return " ".join(words(text))


def keep_posts(body: HtmlElement, posts: Sequence[Post]) -> None:
    """Remove the lines of a body that no post has, except the names of authors.

    Nothing is removed unless the body has most of the posts' text: otherwise they belong to another thread, or are not
    complete.
    """
    theirs = grams("\n".join(post.text for post in posts)) if len(posts) >= _FEWEST else None
    if not theirs or (theirs & grams(canonical_text(body))).total() < _COVERED * theirs.total():
        return
    short = {" ".join(found) for post in posts for line in post.text.splitlines() if len(found := words(line)) < _SHORT}
    short.update(_folded(post.author) for post in posts if post.author)
    drop_all(body, [line for line in lines(body) if _is_foreign(words(canonical_text(line)), theirs, short)])


def _is_foreign(found: list[str], theirs: Grams, short: set[str]) -> bool:
    """True if the words of a line are those of no post."""
    text = " ".join(found)
    if not found or text in short:
        return False
    ours = grams(text)
    return len(found) < _SHORT or sum(gram in theirs for gram in ours) < _SEEN * len(ours)
