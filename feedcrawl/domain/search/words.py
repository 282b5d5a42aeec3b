"""Words of a text for an index whose tokenizer splits at spaces and punctuation.

Chinese, Japanese, Thai, Lao, Khmer and Burmese have no spaces between words, and Korean attaches particles to words:
runs of their characters become overlapping pairs (as Lucene's CJKBigramFilter does), so that each word of two or more
characters is found as a phrase of pairs. The last character of a run stands alone too, so that each character begins a
token, and a single character is found as a prefix.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Final

UNSPACED: Final = (
    "\u0e01-\u0e7f\u0e80-\u0eff"  # Thai, Lao
    "\u1000-\u109f\uaa60-\uaa7f\u1780-\u17ff"  # Burmese, Khmer
    "\u1100-\u11ff\uac00-\ud7af"  # Hangul
    "\u3005-\u3007\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff"  # Kana, Bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Han
)
"""The characters of these scripts, as the inside of a character class."""
_RUN: Final = re.compile(f"[{UNSPACED}]+")
_RUN_AT_END: Final = re.compile(f"[{UNSPACED}]+$")


class _Base(dict[int, str]):
    """The letter without its marks, for Latin, Greek and Cyrillic; one character for each, so that offsets stay."""

    def __missing__(self, code: int) -> str:
        letter = base = chr(code)
        if (code < _AFTER_CYRILLIC or _MORE_LATIN <= code < _AFTER_GREEK) and letter not in _LETTERS:
            parts = unicodedata.normalize("NFKD", letter)
            base = parts[0] if all(map(unicodedata.combining, parts[1:])) else letter
        self[code] = base
        return base


_AFTER_CYRILLIC: Final = 0x530
_MORE_LATIN: Final = 0x1E00
_AFTER_GREEK: Final = 0x2000
_LETTERS: Final = "йЙ"
"""Letters of an alphabet that only look like another letter with a mark."""
_BASE: Final = _Base({0x3C2: "\u03c3"})  # the final sigma


def without_marks(text: str) -> str:
    """The text with each letter's base letter, character by character."""
    return text if text.isascii() else text.translate(_BASE)


def spaced(text: str) -> str:
    """The text folded (`folded`), and each run of an unspaced script as its pairs."""
    if text.isascii():
        return text.replace("\0", " ")
    return _RUN.sub(_tokens, folded(text))


def phrase(text: str) -> tuple[str, bool]:
    """The words of a query's term as a phrase for the tokens of `spaced`; True if the last word is a prefix.

    A run at the end of the term may go on in the text, so that its last character is no word of its own.
    """
    text = folded(text)
    end = _RUN_AT_END.search(text)
    if end is None:
        return spaced(text), False
    return f"{spaced(text[: end.start()])} {_pairs(end[0])}".strip(), len(end[0]) == 1


def folded(text: str) -> str:
    """The text in NFKC with base letters, without characters that no index can store."""
    if not text.isascii():
        text = without_marks(unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode()))
    return text.replace("\0", " ")


def _pairs(run: str) -> str:
    return " ".join(map("".join, pairwise(run))) or run


def _tokens(run: re.Match[str]) -> str:
    """The pairs of a run and its last character; a run of one character is one token."""
    text = run[0]
    return f" {text} " if len(text) == 1 else f" {_pairs(text)} {text[-1]} "
