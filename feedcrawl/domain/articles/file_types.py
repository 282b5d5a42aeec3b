"""Media types of files: accepted types, and whether a declared type may be one of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

PATTERN: Final = re.compile(r"[a-z]+/(?:\*|[a-z0-9][a-z0-9.+-]*)")
"""An accepted media type (`application/pdf`), or all types of a kind (`image/*`)."""
GENERIC: Final = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/force-download"})
"""Declared types that say nothing about the content."""


def patterns(text: str) -> tuple[str, ...]:
    """The media types of a comma-separated list. Raises Refusal (`bad_type`) with the first invalid one."""
    found = tuple(part for each in text.lower().split(",") if (part := each.strip()))
    for pattern in found:
        if not PATTERN.fullmatch(pattern):
            raise Refusal("bad_type", f"{pattern!r} is no media type: expected for example image/* or application/pdf")
    return found


def media_type(header: str | None) -> str:
    """The media type of a Content-Type without parameters, in lower case; "" if there is none."""
    return (header or "").partition(";")[0].strip().lower()


def may_be(declared: str, accepted: Sequence[str]) -> bool:
    """True if a file with this declared type may be an accepted one; a generic type decides nothing."""
    return declared in GENERIC or is_accepted(declared, accepted)


def is_accepted(kind: str, accepted: Sequence[str]) -> bool:
    """True if a media type is one of the accepted types."""
    return any(kind == each or (each.endswith("/*") and kind.startswith(each[:-1])) for each in accepted)
