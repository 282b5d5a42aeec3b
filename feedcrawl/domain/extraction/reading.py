"""One reading of a page, as a child process does it: its text and the article in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NotRequired, TypedDict, Unpack

from feedcrawl.domain.errors import NoArticle
from feedcrawl.domain.extraction.ladder import extract
from feedcrawl.domain.extraction.page import MIN_STORY, decode
from feedcrawl.domain.extraction.parts import NO_PAGE, cut_part
from feedcrawl.domain.http.refresh import find_refresh
from feedcrawl.domain.models import Extraction  # noqa: TC001 - what a child answers is decoded by this annotation

if TYPE_CHECKING:
    from feedcrawl.domain.models import FeedContent, SourceRules

REFRESH: Final = "refresh"


class ExtractionArguments(TypedDict):
    """The named arguments of `extract`."""

    url: str
    rules: NotRequired[SourceRules | None]
    feed: NotRequired[FeedContent | None]
    image_proxy: NotRequired[str | None]


@dataclass(frozen=True, slots=True)
class PageReading:
    """The text of a page (None if its bytes are no text), and its article or the reason why there is none.

    `code` is that of a NoArticle, or `unsupported_type` (bytes that are no page), `too_short`, or REFRESH: the page
    sends its readers on to the URL in `detail`.
    """

    html: str | None
    extraction: Extraction | None = None
    code: str = ""
    detail: str = ""


def read_article(
    body: bytes,
    content_type: str | None,
    *,
    min_chars: int,
    refresh: str | None = None,
    **about: Unpack[ExtractionArguments],
) -> PageReading:
    """The article in the bytes of a page; never raises NoArticle. `about` are the named arguments of `extract`.

    `refresh` is the value of the response's Refresh header. A refresh for readers without scripts counts only if the
    page itself shows them no story. A `url` with a fragment stands for the part of the page that the fragment names; a
    part that is not in the page can still come from the feed.
    """
    try:
        html = decode(body, content_type)
    except NoArticle as refused:
        return PageReading(None, code="unsupported_type", detail=refused.detail.partition(": ")[2])
    onward = find_refresh(html, url=about["url"], header=refresh)
    if onward is not None and not onward.scriptless:
        return PageReading(html, code=REFRESH, detail=onward.url)
    read = _read_part(html, about) if "#" in about["url"] else _read(html, min_chars, **about)
    if onward is not None and (read.extraction is None or read.extraction.text_len < MIN_STORY):
        return PageReading(html, code=REFRESH, detail=onward.url)
    return read


def _read_part(html: str, about: ExtractionArguments) -> PageReading:
    url, _, part = about["url"].partition("#")
    cut = cut_part(html, part)
    about = {**about, "url": url}
    try:
        return PageReading(html, extract(cut or NO_PAGE, **about))
    except NoArticle as refused:
        detail = refused.detail if cut else f"no_part: the page has no element that is named {part[:80]!r}"
        return PageReading(html, code=refused.code if cut else "FAIL_EMPTY", detail=detail)


def _read(html: str, min_chars: int, **about: Unpack[ExtractionArguments]) -> PageReading:
    if len(html) < min_chars:
        return PageReading(html, code="too_short", detail=f"{len(html)} characters")
    try:
        return PageReading(html, extract(html, **about))
    except NoArticle as refused:
        return PageReading(html, code=refused.code, detail=refused.detail)
