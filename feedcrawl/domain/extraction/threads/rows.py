"""Posts from the texts of a page for author, day and content."""

from __future__ import annotations

import re

from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.models import Post

Row = tuple[str, str | None, str]
"""The text of a post, its author, the text of its day ("" if there is none)."""

MAX_POSTS = 100
_MONTHS = 12
_DASHED = re.compile(r"^\s*(\d{1,2})-(\d{1,2})-(\d{4})(?!\d)")


def posts_of_rows(rows: list[Row]) -> list[Post]:
    """The posts of texts, authors and the texts of days; those without a text are left out.

    The month of 03-12-2024 is ambiguous unless another post of the thread shows the order.
    """
    dashed = [match for *_, day in rows if (match := _DASHED.match(day))]
    has_month_first = any(int(match[2]) > _MONTHS for match in dashed)
    is_known = has_month_first or any(int(match[1]) > _MONTHS for match in dashed)
    order = r"\3-\1-\2" if has_month_first else r"\3-\2-\1" if is_known else ""
    return [Post(text, author, parse_date(_DASHED.sub(order, day))) for text, author, day in rows if text]


def is_day(text: str) -> bool:
    """True if a text is a day or an instant, in any order of day and month."""
    return parse_date(_DASHED.sub("2000-01-01", text)) is not None
