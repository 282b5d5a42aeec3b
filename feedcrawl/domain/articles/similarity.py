"""The decision whether two pages of one site are the same article: equal texts, or nearly equal texts with one title.

A text is stored as a sketch, the smallest hashes of its runs of words; two sketches estimate the share of text in
common (Broder, "On the resemblance and containment of documents", 1997). Texts that differ only in their numbers
(weather reports, stock prices) or that appeared half a day apart (a column) are different articles, even if their words
are alike.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from dataclasses import dataclass
from itertools import islice
from struct import iter_unpack, pack
from typing import TYPE_CHECKING, Final, Literal
from zlib import crc32

from feedcrawl.domain.text import fold, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

SHINGLE_WORDS: Final = 4
SKETCH_SIZE: Final = 96
"""Number of hashes stored for a text: for 90 % in common, the standard error of the estimate is 3 %."""
NUMBERS_SIZE: Final = 32
MAX_CHARS: Final = 20_000
"""Longer texts are compared only for equality: most are live blogs, and their sketches would take milliseconds."""
MAX_APART_SEC: Final = 12 * 3600
SLACK_CHARS: Final = 100
"""Additional difference that is allowed between the lengths of two texts, because words differ in length."""
LONG_FACTOR: Final = 2
"""Equal texts with different titles must have this many times `Rule.min_chars` characters."""
MAX_TITLES: Final = 2
"""A text with more different titles than this comes from a template and is no article."""

_NUMBER = re.compile(r"\d+")

Why = Literal["same_text", "near_text"]
Reason = Literal[
    "same_text", "near_text", "too_short", "too_long", "other_title", "other_numbers", "other_time", "less_alike",
    "template",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rule:
    """The least share of text in common and the least number of characters of equal articles."""

    similarity: float = 0.9
    min_chars: int = 500


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The stored values for comparing a text. `title`: 0 without title; `sketch`: empty if the text is too long."""

    title: int
    chars: int
    published: int | None
    numbers: frozenset[int]
    sketch: tuple[int, ...]

    def encode(self) -> str:
        """The fingerprint as text for `decode`."""
        published = "" if self.published is None else self.published
        return f"{self.title}:{self.chars}:{published}:{_pack(self.numbers)}:{_pack(self.sketch)}"


@dataclass(frozen=True, slots=True)
class Fingerprinted:
    """An article with a stored fingerprint."""

    uid: str
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True)
class Match:
    """An article that is the same, the reason, and the share of text in common."""

    uid: str
    why: Why
    similarity: float


def decode(text: str) -> Fingerprint:
    """The fingerprint that `Fingerprint.encode` wrote. Raises ValueError for any other text."""
    title, chars, published, numbers, sketch = text.split(":")
    found = int(published) if published else None
    return Fingerprint(int(title), int(chars), found, frozenset(_unpack(numbers)), _unpack(sketch))


def fingerprint(title: str | None, text: str, published: datetime | None) -> Fingerprint:
    """The fingerprint of an article."""
    short = len(text) <= MAX_CHARS
    return Fingerprint(
        title=title_key(title),
        chars=len(text),
        published=None if published is None else int(published.timestamp()),
        numbers=frozenset(_smallest(map(_hash, _NUMBER.findall(text)), NUMBERS_SIZE) if short else ()),
        sketch=_smallest(map(_hash, _shingles(words(text))), SKETCH_SIZE) if short else (),
    )


def title_key(title: str | None) -> int:
    """A number for the words of a title, without case and punctuation; 0 for a title without words."""
    return _hash(" ".join(found)) if (found := words(fold(title or ""))) else 0


def resemblance(left: Sequence[int], right: Sequence[int]) -> float:
    """The share of runs of words that two texts have in common, estimated from their sketches: 0 … 1."""
    common = {*left} & {*right}
    if not common:
        return 0.0
    union = _smallest((*left, *right), SKETCH_SIZE)
    return len(common.intersection(union)) / len(union)


def near(mine: Fingerprint, theirs: Fingerprint, rule: Rule) -> tuple[Reason, float]:
    """`near_text` if two different texts are the same article, else the reason why not; and the share in common.

    The share is 0.0 if it was not computed. One text may have additional numbers ("updated at 12:30"), but not other
    numbers in place of the first text's.
    """
    if mine.title != theirs.title or not mine.title:
        return "other_title", 0.0
    if min(mine.chars, theirs.chars) < rule.min_chars:
        return "too_short", 0.0
    if not mine.sketch or not theirs.sketch:
        return "too_long", 0.0
    if min(mine.chars, theirs.chars) < rule.similarity * max(mine.chars, theirs.chars) - SLACK_CHARS:
        return "less_alike", 0.0
    if mine.published and theirs.published and abs(mine.published - theirs.published) > MAX_APART_SEC:
        return "other_time", 0.0
    if not (mine.numbers <= theirs.numbers or theirs.numbers <= mine.numbers):
        return "other_numbers", 0.0
    shared = resemblance(mine.sketch, theirs.sketch)
    return ("near_text" if shared >= rule.similarity else "less_alike"), shared


def same(mine: Fingerprint, theirs: Fingerprint, titles: int, rule: Rule) -> Reason:
    """`same_text` if pages with equal texts are the same article, else the reason why not.

    `titles`: number of different titles with this text.
    """
    if mine.chars < rule.min_chars:
        return "too_short"
    if mine.title == theirs.title:
        return "same_text"
    if titles > MAX_TITLES:
        return "template"
    return "same_text" if mine.chars >= LONG_FACTOR * rule.min_chars else "other_title"


def matches(
    mine: Fingerprint, same_text: Sequence[Fingerprinted], same_title: Sequence[Fingerprinted], rule: Rule
) -> tuple[Match, ...]:
    """The articles that are the same as this one, the likeliest first, then the oldest.

    Both lists are in the order in which the articles were stored; an article may be in both.
    """
    titles = len({mine.title, *(met.fingerprint.title for met in same_text)})
    equal = [met.uid for met in same_text if same(mine, met.fingerprint, titles, rule) == "same_text"]
    others = {met.uid for met in same_text}
    judged = [(met.uid, *near(mine, met.fingerprint, rule)) for met in same_title if met.uid not in others]
    return (
        *(Match(uid, "same_text", 1.0) for uid in equal),
        *(Match(uid, "near_text", round(shared, 3)) for uid, reason, shared in judged if reason == "near_text"),
    )


def _hash(text: str) -> int:
    return crc32(text.encode("utf-8", "replace"))


def _shingles(found: Sequence[str]) -> Iterable[str]:
    if len(found) < SHINGLE_WORDS:
        return (" ".join(found),)
    return map(" ".join, zip(*(islice(found, start, None) for start in range(SHINGLE_WORDS)), strict=False))


def _smallest(hashes: Iterable[int], size: int) -> tuple[int, ...]:
    return tuple(sorted(set(hashes))[:size])


def _pack(numbers: Iterable[int]) -> str:
    ordered = sorted(numbers)
    return b64encode(pack(f">{len(ordered)}I", *ordered)).decode()


def _unpack(text: str) -> tuple[int, ...]:
    packed = b64decode(text, validate=True)
    if len(packed) % 4:
        raise ValueError(f"{len(packed)} bytes are no whole number of hashes")
    return tuple(number for (number,) in iter_unpack(">I", packed))
