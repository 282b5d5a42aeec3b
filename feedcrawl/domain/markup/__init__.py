"""Documents of HTML: parsed, read without a tree, and searched for their elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.public_names import imported_later

if TYPE_CHECKING:
    from feedcrawl.domain.markup.characters import NOT_XML
    from feedcrawl.domain.markup.elements import MATH_TAGS, Elements, drop, drop_all
    from feedcrawl.domain.markup.parsing import parse_html
    from feedcrawl.domain.markup.tokens import start_tags

__all__ = ["MATH_TAGS", "NOT_XML", "Elements", "drop", "drop_all", "parse_html", "start_tags"]

if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
    __getattr__ = imported_later(__name__)
