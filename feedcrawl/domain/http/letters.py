"""Chooses between similar encodings by the letters that a language uses and those that it does not use.

Detectors by frequency confuse encodings that differ in a few letters only: Hungarian ő and Portuguese õ are the same
byte. The chosen encoding is the one in which all letters belong to one language. The alphabets are those of CLDR.
Also reads single letters of Windows-1252 within UTF-8 (the error handler SLIPS).
"""
# ruff: noqa: RUF001 -- letters and punctuation that look alike

from __future__ import annotations

import codecs
import re
from collections import Counter
from itertools import pairwise
from typing import Final

SLIPS: Final = "feedcrawl.slips"
"""The name of an error handler for decoding UTF-8."""
_CUT: Final = frozenset(b"\xc2\xc3\xe2")  # with these begin Latin letters and punctuation in UTF-8
_CONTROLS = re.compile("[\x80-\x9f]")
# Western first: where two encodings fit equally well, the text is the same in both, or the more common one is right.
LATIN = (
    ("cp1252", "àâæçéèêëîïôœùûüÿ"),  # French
    ("cp1252", "áéíñóúü¡¿ªº"),  # Spanish
    ("cp1252", "ãáàâçéêíõóôúüªº"),  # Portuguese
    ("cp1252", "äöüß"),  # German
    ("cp1252", "àèéìíîòóùú"),  # Italian
    ("cp1252", "àçéèíïóòúü·"),  # Catalan
    ("cp1252", "áéëèêïíóöôúüç"),  # Dutch
    ("cp1252", "åäöéàæøòóôü"),  # Swedish, Finnish, Danish, Norwegian
    ("cp1250", "áéíóöőúüű"),  # Hungarian
    ("cp1250", "áčďéěíňóřšťúůýž"),  # Czech
    ("cp1250", "áäčďéíĺľňóôŕšťúýž"),  # Slovak
    ("cp1250", "ąćęłńóśźż"),  # Polish
    ("cp1250", "čćđšž"),  # Slovene, Croatian
    ("cp1250", "ăâîşţ"),  # Romanian
    ("iso8859-2", "áéíóöőúüű"),
    ("iso8859-2", "áčďéěíňóřšťúůýž"),
    ("iso8859-2", "áäčďéíĺľňóôŕšťúýž"),
    ("iso8859-2", "ąćęłńóśźż"),
    ("iso8859-2", "čćđšž"),
    ("iso8859-2", "ăâîşţ"),
    ("iso8859-16", "ăâîșț"),  # Romanian with comma below (not cedilla)
    ("cp1254", "çğıöşüâîûİ"),  # Turkish
    ("cp1252", "áéíóúýþæöð"),  # Icelandic
    ("cp1257", "ąčęėįšųūž"),  # Lithuanian
    ("cp1257", "āčēģīķļņšūž"),  # Latvian
    ("cp1252", "äõöüšž"),  # Estonian
)
_RUSSIAN = "абвгдеёжзийклмнопрстуфхцчшщъыьэюя№"
_UKRAINIAN = "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя’№"
_TWINS = ("cp1251", "mac-cyrillic")  # these share most small letters and differ in я and the capitals

_ARABIC_LETTERS = "ءآأؤإئابةتثجحخدذرزسشصضطظعغـفقكلمنهوىيًٌٍَُِّْپچژگک،؛؟"
ARABIC = (("cp1256", _ARABIC_LETTERS), ("iso8859-6", _ARABIC_LETTERS))

CYRILLIC = frozenset({*_TWINS, "koi8-r", "koi8-u", "iso8859-5", "cp866", "cp855"})

_ANY_LANGUAGE = frozenset("\u00a0\u200c\u200d\u200e\u200f«»„“”‘’‚‹›–—…•€£©®™°§·\u00ad±²³½¼¾×´`")
_HIGH = re.compile(r"[^\x00-\x7f]")


def codec_by_letters(sample: bytes, alphabets: tuple[tuple[str, str], ...]) -> str:
    """The codec in which the largest share of the sample's letters belongs to one language; the first codec on a tie.

    A capital after a small letter does not count: it shows that another script was decoded with this codec.
    """
    counts: dict[str, tuple[Counter[str], int]] = {}
    best, share = alphabets[0][0], 0.0
    for codec, alphabet in alphabets:
        if codec not in counts:
            text = sample.decode(codec, "replace")
            counts[codec] = Counter(_HIGH.findall(text)), _odd_capitals(text)
        found, odd = counts[codec]
        letters = _ANY_LANGUAGE.union(alphabet, alphabet.upper())
        known = sum(count for character, count in found.items() if character in letters) - odd
        if known > share * found.total():
            best, share = codec, known / found.total()
    return best


def cyrillic(codec: str) -> tuple[tuple[str, str], ...]:
    """The alphabets of a Cyrillic codec and of the codec that is easily confused with it, if there is one."""
    codecs = _TWINS if codec in _TWINS else (codec,)
    return tuple((one, alphabet) for one in codecs for alphabet in (_RUSSIAN, _UKRAINIAN))


def _odd_capitals(text: str) -> int:
    return sum(second > "\x7f" and second.isupper() and first.islower() for first, second in pairwise(text))


def encoded_once(text: str) -> str | None:
    """The text of a document that was encoded in UTF-8 twice; None for other documents.

    Its characters are the bytes of the first encoding, read as Latin-1: none is above U+00FF, and some are control
    characters (U+0080 to U+009F), which no document contains on purpose.
    """
    try:
        once = text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return None
    return once if _CONTROLS.search(text) else None


def _slip(error: UnicodeError) -> tuple[str, int]:
    """An error handler for UTF-8: a letter or quotation mark of Windows-1252 among ASCII text, else U+FFFD.

    The first byte of a character that was cut off is mostly one of `_CUT`, and no letter follows.
    """
    assert isinstance(error, UnicodeDecodeError)
    body, at = error.object, error.start
    byte, before, after = body[at], body[at - 1 : at], body[at + 1 : at + 2]
    is_letter = after.isalpha() or (byte not in _CUT and (before.isalpha() or before == after == b" "))
    if error.end - at == 1 and (is_letter if byte >= 0xA0 else before.isascii()):
        return bytes([byte]).decode("cp1252", "replace"), at + 1
    return "\ufffd", error.end


codecs.register_error(SLIPS, _slip)
