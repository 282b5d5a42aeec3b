"""Whether two pages of one site tell one story: equal texts, or nearly equal ones under one title.

A text is kept as a sketch, the smallest hashes of its runs of words; two sketches estimate how much of two texts is
shared (Broder, "On the resemblance and containment of documents", 1997). What only differs in its figures (a weather
report, a market's close) or came half a day later (a column) is another story however alike its words are.
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
"""Hashes that are kept of a text: at 90 % shared, the estimate's standard error is 3 %."""
NUMBERS_SIZE: Final = 32
MAX_CHARS: Final = 20_000
"""Longer texts are only compared whole: they are the live blogs, and a sketch of them takes milliseconds."""
MAX_APART_SEC: Final = 12 * 3600
SLACK_CHARS: Final = 100
"""So much more than their share may the lengths of two texts differ: words differ in length."""
LONG_FACTOR: Final = 2
"""A text under another title must be that many times longer than under the same."""
MAX_TITLES: Final = 2
"""A text that stands under more titles than these is a template's, not a story's."""

_NUMBER = re.compile(r"\d+")

Why = Literal["same_text", "near_text"]
Reason = Literal[
    "same_text", "near_text", "too_short", "too_long", "other_title", "other_numbers", "other_time", "less_alike",
    "template",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rule:
    """From what share of common text, and from how many characters on, two pages may be one story."""

    similarity: float = 0.9
    min_chars: int = 500


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What is kept of a text to compare others with. `title` is 0 without one, `sketch` empty of a text too long."""

    title: int
    chars: int
    published: int | None
    numbers: frozenset[int]
    sketch: tuple[int, ...]

    def encode(self) -> str:
        """As text; `decode` reads it."""
        published = "" if self.published is None else self.published
        return f"{self.title}:{self.chars}:{published}:{_pack(self.numbers)}:{_pack(self.sketch)}"


@dataclass(frozen=True, slots=True)
class Met:
    """An article whose fingerprint was there before."""

    uid: str
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True)
class Match:
    """An article that tells the same story, why so, and the share of text that both have."""

    uid: str
    why: Why
    similarity: float


def decode(text: str) -> Fingerprint:
    """What `Fingerprint.encode` wrote; ValueError for anything else."""
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
    """A number for the words of a title, whatever their case and punctuation; 0 without any."""
    return _hash(" ".join(found)) if (found := words(fold(title or ""))) else 0


def resemblance(left: Sequence[int], right: Sequence[int]) -> float:
    """The share of the runs of words of two texts that both have, estimated from their sketches: 0 … 1."""
    common = {*left} & {*right}
    if not common:
        return 0.0
    union = _smallest((*left, *right), SKETCH_SIZE)
    return len(common.intersection(union)) / len(union)


def near(mine: Fingerprint, theirs: Fingerprint, rule: Rule) -> tuple[Reason, float]:
    """Whether texts that differ tell one story, or why not; with the share of text that both have, once it is known.

    Figures may be added by one of them ("updated at 12:30"), but not stand in the place of others.
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
    """Whether pages with the same text tell one story; `titles` is under how many titles the text was met."""
    if mine.chars < rule.min_chars:
        return "too_short"
    if mine.title == theirs.title:
        return "same_text"
    if titles > MAX_TITLES:
        return "template"
    return "same_text" if mine.chars >= LONG_FACTOR * rule.min_chars else "other_title"


def matches(mine: Fingerprint, same_text: Sequence[Met], same_title: Sequence[Met], rule: Rule) -> tuple[Match, ...]:
    """The articles whose story this one tells again, the likeliest and oldest first.

    Both lists are in the order of their arrival; an article may stand in both.
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
