"""The place of the headline among the lines of a page; bylines and dates are searched from there."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.fields.sites import SEPARATOR, key, site_keys
from feedcrawl.domain.extraction.page import once_per_page
from feedcrawl.domain.extraction.structured import text_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from feedcrawl.domain.extraction.page import Page

_MIN_LENGTH = 8  # letters; a shorter part of a title is a section as often as a headline


@once_per_page
def headline_at(page: Page) -> int | None:
    """The index of the page's headline among its lines; of its last line if the h1 has several.

    The headline is the h1 that a statement of the page repeats, else the first h1, else the line that is a stated title
    or a part of one. An h1 with the name of the site is the last resort.
    """
    lines = {line: at for at, line in reversed(list(enumerate(page.lines)))}
    sites, title = site_keys(page), page.meta("og:title", "twitter:title") or ""
    headings = sorted((text for _, text in page.headings), key=lambda text: text not in title)
    own = [text for text in headings if key(text) not in sites]
    for text in (*own, title):
        if text in lines:
            return lines[text]
    several = (at for text in own if (at := _end_of(text, page.lines)) is not None)
    stated = (lines[part] for part in _stated_parts(page, title) if part in lines and key(part) not in sites)
    banners = (lines[text] for text in headings if text in lines)
    return next(chain(several, stated, banners), None)


def _end_of(heading: str, lines: list[str]) -> int | None:
    """The index of the last line of a heading with line breaks."""
    for at, line in enumerate(lines):
        end, joined = at, line
        while len(joined) < len(heading) and heading.startswith(f"{joined} ") and end + 1 < len(lines):
            end, joined = end + 1, f"{joined} {lines[end + 1]}"
        if joined == heading:
            return end
    return None


def _stated_parts(page: Page, title: str) -> Iterator[str]:
    """The titles that the page states, and their parts between separators, the longest of each first."""
    for text in filter(None, (text_at(page.article, "headline"), title, page.title_element)):
        yield text
        parts = (part for part in SEPARATOR.split(text) if len(part) >= _MIN_LENGTH)
        yield from sorted(parts, key=len, reverse=True)
