"""One feed document, from bytes to ParsedFeed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.encodings import decode
from feedcrawl.domain.errors import NotAFeed
from feedcrawl.domain.feeds import lenient

if TYPE_CHECKING:
    from feedcrawl.domain.models import ParsedFeed


def parse(body: bytes, *, url: str, content_type: str | None = None) -> ParsedFeed:
    """The feed that `body`, fetched from `url`, holds; the body decides the format, not the content type."""
    decoded = decode(body, content_type)
    if not decoded.text.strip():
        raise NotAFeed("empty", "the document has no text")
    return lenient.read(decoded.text, url)
