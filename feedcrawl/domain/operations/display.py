"""Text for narrow places: tables on a terminal and lists of the dashboard."""

from __future__ import annotations


def shortened(text: str, longest: int) -> str:
    """The text, cut in its middle if it has more than `longest` characters: both ends of a URL are seen."""
    if len(text) <= longest:
        return text
    head = (longest - 1) * 3 // 5
    return f"{text[:head]}…{text[head + 1 - longest :]}"
