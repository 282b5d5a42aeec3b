"""The text of a thread: the text of its posts, without the panels and buttons around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.bodies.polish import grams, lines
from feedcrawl.domain.markup import drop
from feedcrawl.domain.text import canonical_text, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml.html import HtmlElement

    from feedcrawl.domain.models import Post

_FEWEST = 2
_COVERED = 0.8  # of the posts, by the body
_SEEN = 0.5  # of a line, in the posts
_SHORT = 4  # words; shorter lines are those of the posts letter by letter


def keep_posts(body: HtmlElement, posts: Sequence[Post]) -> bool:
    """Remove the lines of a body that no post has, except the names of authors; True if the posts could be used.

    They are used only if the body has most of their text; otherwise they belong to another thread, or are not complete.
    """
    theirs = grams("\n".join(post.text for post in posts)) if len(posts) >= _FEWEST else None
    if not theirs or (theirs & grams(canonical_text(body))).total() < _COVERED * theirs.total():
        return False
    short = {" ".join(found) for post in posts for line in post.text.splitlines() if len(found := words(line)) < _SHORT}
    short.update(" ".join(words(post.author)) for post in posts if post.author)
    for line in list(lines(body)):
        found = words(canonical_text(line)) if line.getparent() is not None else []
        text = " ".join(found)
        if not found or text in short:
            continue
        ours = grams(text)
        if len(found) < _SHORT or sum(gram in theirs for gram in ours) < _SEEN * len(ours):
            drop(line)
    return True
