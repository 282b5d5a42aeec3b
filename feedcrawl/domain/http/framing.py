"""Whether a response says unmistakably where its body ends (RFC 9112, 6.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def ambiguous(lengths: Sequence[bytes], codings: Sequence[bytes]) -> str | None:
    """What is wrong with the values of Content-Length and Transfer-Encoding as received; None if nothing is.

    Both together, a second coding and one that nobody asked for are how a response is split: two readers of the same
    connection see two ends of it. So do two lengths that differ; one that is said twice over is one.
    """
    if not codings:
        said = {length.strip() for each in lengths for length in each.split(b",")}
        return (
            "a Content-Length that is no number, or several"
            if len(said) > 1 or not all(map(bytes.isdigit, said))
            else None
        )
    if lengths:
        return "both Content-Length and Transfer-Encoding"
    if [coding.strip().lower() for coding in codings] != [b"chunked"]:
        return "a Transfer-Encoding other than chunked"
    return None
