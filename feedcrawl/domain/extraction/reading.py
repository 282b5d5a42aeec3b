"""One reading of a page, as a child process does it: its text and the article in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from feedcrawl.domain.errors import NoArticle
from feedcrawl.domain.extraction.ladder import extract
from feedcrawl.domain.extraction.page import decode
from feedcrawl.domain.models import Extraction  # noqa: TC001 - what a child answers is decoded by this annotation


@dataclass(frozen=True, slots=True)
class PageReading:
    """The text of a page (None if its bytes are no text), and its article or why there is none.

    `code` is that of a NoArticle, or `unsupported_type` (bytes that are no page), or `too_short`.
    """

    html: str | None
    extraction: Extraction | None = None
    code: str = ""
    detail: str = ""


def read_article(body: bytes, content_type: str | None, *, min_chars: int, **about: Any) -> PageReading:
    """The article in the bytes of a page; never raises NoArticle. `about` are the named arguments of `extract`."""
    try:
        html = decode(body, content_type)
    except NoArticle as refused:
        return PageReading(None, code="unsupported_type", detail=refused.detail.partition(": ")[2])
    if len(html) < min_chars:
        return PageReading(html, code="too_short", detail=f"{len(html)} characters")
    try:
        return PageReading(html, extract(html, **about))
    except NoArticle as refused:
        return PageReading(html, code=refused.code, detail=refused.detail)
