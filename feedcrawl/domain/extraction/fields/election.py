"""The election of a text among statements of a title, of which some are cut or have additions."""

from __future__ import annotations

from typing import NamedTuple

from feedcrawl.domain.extraction.fields.sites import SEPARATOR, key

MIN_CORE_LENGTH = 8  # letters; a shorter text may begin another by chance


class Statement(NamedTuple):
    """The title that one source states, and its weight."""

    text: str
    weight: float


def elect(candidates: list[Statement]) -> Statement:
    """The text with the most weight, and that weight; the first of equals, in its first spelling.

    Texts that differ only in typography are the same. A statement without support counts for the text that it extends
    ("Headline - section") or from which it was cut ("Headl...").
    """
    votes: dict[str, float] = {}
    for text, weight in candidates:
        meant = key(_meant(text, [other for other, _ in candidates]))
        votes[meant] = votes.get(meant, 0) + weight
    texts = (Statement(text, votes.get(key(text), 0)) for text, _ in candidates if text)
    return max(texts, key=lambda statement: statement.weight, default=Statement("", 0))


def _meant(text: str, texts: list[str]) -> str:
    whole = next((other for other in texts if _is_cut_at_quotation(text, other)), None)
    if whole or [key(other) for other in texts].count(key(text)) > 1:
        return whole or text
    return core_of(text, texts) or next((other for other in texts if _is_cut(text, other)), text)


def core_of(text: str, texts: list[str]) -> str | None:
    """The longest statement that another text extends after a separator."""
    beginnings = {key(text[: cut.start()]) for cut in SEPARATOR.finditer(text)}
    cores = [other for other in texts if key(other) in beginnings and len(key(other)) >= MIN_CORE_LENGTH]
    return max(cores, key=len, default=None)


def _is_cut(text: str, whole: str) -> bool:
    """True if a text is the shortened beginning of another."""
    beginning = text.rstrip(" .…")
    return beginning != text and _begins(beginning, whole)


def _is_cut_at_quotation(text: str, whole: str) -> bool:
    """True if a text ends where another has a quotation mark, which was not escaped in an attribute."""
    return whole[len(text) :].lstrip().startswith('"') and _begins(text, whole)


def _begins(beginning: str, whole: str) -> bool:
    start = key(beginning)
    return len(beginning) < len(whole) and len(start) >= MIN_CORE_LENGTH and key(whole).startswith(start)
