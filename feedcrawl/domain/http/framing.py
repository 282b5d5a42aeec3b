"""The end of a response's body: whether it is unambiguous (RFC 9112, 6.3), and whether a document came to its end."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

PARTIAL: Final = 206
_SPAN: Final = re.compile(r"bytes\s+0+-(?P<last>[0-9]{1,18})/(?P<length>[0-9]{1,18})", re.IGNORECASE)
_ROOT: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<\?.*?\?>|<!--.*?-->|<![a-z][^>\[]*(?:\[.*?\]\s*)?>)*+<(?P<name>[a-z_][\w:.-]*)",
    re.IGNORECASE | re.DOTALL,
)
_END: Final = re.compile(
    rb"(?P<name>[^\s>]+)\s*>(?:\s|\0|<!--.*?-->|<\?.*?\?>|<script\b.*?</script\s*>)*+\Z", re.IGNORECASE | re.DOTALL
)


def is_complete(document: bytes) -> bool:
    """True if a document whose transfer ended early is complete nevertheless: its root element is closed, or its JSON.

    Only comments, processing instructions and scripts may follow the end of the root element.
    """
    if document.lstrip()[:1] in (b"{", b"["):
        return _is_json(document)
    root = _ROOT.match(document)
    if root is None:
        return False
    name = root["name"].lower()
    last = document.lower().rfind(b"</" + name)
    end = _END.match(document, last + 2) if last >= 0 else None
    return end is not None and end["name"].lower() == name


def is_part(status: int, content_range: str) -> bool:
    """True if a response is a part of its document (206), unless its Content-Range covers the whole (RFC 9110, 14.4).

    No request asks for a part.
    """
    span = _SPAN.fullmatch(content_range.strip())
    return status == PARTIAL and not (span is not None and int(span["last"]) + 1 == int(span["length"]))


def _is_json(document: bytes) -> bool:
    try:
        json.loads(document)
    except (ValueError, RecursionError):
        return False
    return True


def ambiguous(lengths: Sequence[bytes], codings: Sequence[bytes]) -> str | None:
    """The fault in the received values of Content-Length and Transfer-Encoding; None if there is none.

    Both headers together, a second coding, a coding other than chunked or two different lengths allow response
    splitting: two readers of the same connection see different ends. A length that is repeated with the same value is
    valid.
    """
    if not codings:
        values = {length.strip() for each in lengths for length in each.split(b",")}
        return (
            "a Content-Length that is not a number, or several different ones"
            if len(values) > 1 or not all(map(bytes.isdigit, values))
            else None
        )
    if lengths:
        return "both Content-Length and Transfer-Encoding"
    if [coding.strip().lower() for coding in codings] != [b"chunked"]:
        return "a Transfer-Encoding other than chunked"
    return None
