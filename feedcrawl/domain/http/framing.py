"""Checks that the end of a response's body is unambiguous (RFC 9112, 6.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


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
