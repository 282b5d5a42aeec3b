"""Bytes to text: the character encoding of a document, also where the document or its server declares a wrong one.

Order: byte-order mark, the pattern of UTF-16 and UTF-32, strict UTF-8, HTTP, the prolog, `<meta>`, detection.
Declarations are often wrong or missing; valid UTF-8 with a multi-byte character in it is hardly ever anything else. A
declaration counts only if it names an encoding of `_NAMES`: Python has codecs that take quadratic time (punycode,
idna), that do not decode to text (rot13, bz2), or that always fail (undefined).
"""

from __future__ import annotations

import codecs
import math
import re
from dataclasses import dataclass, replace
from encodings import normalize_encoding
from encodings.aliases import aliases
from functools import cache
from typing import TYPE_CHECKING

from feedcrawl.domain.http.letters import ARABIC, CYRILLIC, LATIN, SLIPS, codec_by_letters, cyrillic, encoded_once

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is a prefix of this mark
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# `<`, `[` or `{` and the next character, without a mark (XML 1.0 appendix F); EBCDIC shows `<?xm`.
_WIDE = (
    (re.compile(rb"\s*\x00{3}[<\[{]\x00{3}[^\x00]", re.DOTALL), "utf-32-be"),
    (re.compile(rb"[<\[{]\x00{3}[^\x00]\x00{3}", re.DOTALL), "utf-32-le"),
    (re.compile(rb"(?:\x00\s)*\x00[<\[{]\x00[^\x00]", re.DOTALL), "utf-16-be"),
    (re.compile(rb"(?:\s\x00)*[<\[{]\x00[^\x00]\x00", re.DOTALL), "utf-16-le"),
    (re.compile(rb"\x4c\x6f\xa7\x94"), "cp037"),
)

# The text codecs allowed for documents. Other codecs of Python (utf-7, idna, rot13, bz2, punycode …) either hide markup
# from code that inspects the bytes, or are no encodings of text.
_NAMES = """
    ascii utf-8 utf-16 utf-16-le utf-16-be utf-32 utf-32-le utf-32-be
    latin-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-11
    iso8859-13 iso8859-14 iso8859-15 iso8859-16 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258
    koi8-r koi8-u koi8-t kz1048 ptcp154 tis-620 cp874 mac-roman mac-cyrillic mac-latin2 mac-greek mac-turkish
    mac-iceland cp437 cp737 cp775 cp850 cp852 cp855 cp857 cp858 cp860 cp861 cp862 cp863 cp864 cp865 cp866 cp869
    cp720 cp1125 cp856 cp1006 hp-roman8 cp037 cp273 cp424 cp500 cp875 cp1026 cp1140
    big5 big5hkscs cp950 gb2312 gbk gb18030 hz euc-jp euc-jis-2004 euc-jisx0213 shift-jis cp932 shift-jis-2004
    shift-jisx0213 iso2022-jp iso2022-jp-1 iso2022-jp-2 iso2022-jp-3 iso2022-jp-2004 iso2022-jp-ext iso2022-kr
    euc-kr cp949 johab
"""
# Declared encoding: the superset that publishers in fact use (WHATWG Encoding, section 4.2).
_SUPERSETS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs",
    "koi8-r": "koi8-u",
}  # fmt: skip
_LATIN = frozenset(
    {"ascii", "utf-8", "iso8859-1", "cp1252", "iso8859-2", "cp1250", "iso8859-9", "cp1254", "iso8859-15"}
)
# gb2312: documents that declare it use its superset so often that the label now means the superset.
_LABELS = {
    "gb2312": "gb18030",
    "sjis": "cp932",
    "cp31j": "cp932",
    "ms932": "cp932",
    "utf8mb4": "utf-8",
    "unicode": "utf-16",
    "mac-roman": "mac_roman",
}

_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE | re.ASCII)
_PROLOG = re.compile(rb"\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*[\"']\s*([\w.:-]+)", re.IGNORECASE)
_META = re.compile(rb"<meta\s[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_EBCDIC_PROLOG = re.compile(r"<\?xml[^>]{0,200}?\sencoding\s*=\s*[\"']\s*([\w.:-]+)", re.IGNORECASE)
_ESCAPES = re.compile(rb"\x1b[$(]|~\{")
_TELLING = re.compile(rb"[\x80-\xff\x1b]|~\{")
_LONGEST_TYPE = 256
_META_WITHIN = 4096  # bytes; WHATWG HTML 13.2.3.2 reads 1024, but many pages have the declaration later
_SAMPLE_BYTES = 65_536
_LONG_WORD = re.compile(rb"([A-Za-z]{64})[A-Za-z]+")
"""Each detector of chardet searches a word for other bytes from each of its letters: 9 s for a sample of one word."""
_TOLERATED = 0.01  # maximum share of invalid characters in a text that still counts as its declared encoding


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a document, the name of its encoding, and notes on faults that were tolerated."""

    text: str
    encoding: str
    notes: tuple[str, ...] = ()


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """The text of a document, without byte-order mark; never fails.

    `encoding` is the declared name if the declaration is right, else the codec's name. Notes: `encoding_lied` (the
    declared encoding is wrong), `encoding_unknown` (the declared name is no encoding of text), `encoding_detected` (no
    usable declaration), `encoded_twice` (UTF-8 within UTF-8, now decoded), `bad_bytes` (invalid bytes were replaced).
    """
    return _decode(body, _labels(body, content_type))


def _decode(body: bytes, labels: Sequence[str]) -> Decoded:
    for mark, name in _BOMS:
        if body.startswith(mark):
            return _forgiving(body[len(mark) :], name)
    declared = _declared(labels)
    for pattern, name in _WIDE:
        if pattern.match(body):
            return _wide(body, name, declared)
    found = _utf8(body, declared) or _by_declaration(body, declared) or _detected(body, declared)
    unknown = len(declared) < len(set(labels))
    return replace(found, notes=(*found.notes, "encoding_unknown")) if unknown else found


def decode_page(body: bytes, content_type: str | None = None) -> Decoded:
    """The text of an HTML page: as `decode`, but a `<meta charset>` also counts, after HTTP and prolog."""
    return _decode(body, _labels(body, content_type, in_meta=True))


def names_no_text(body: bytes, content_type: str | None) -> bool:
    """True if HTTP, prolog or `<meta>` declares a name that is no allowed encoding, and is therefore ignored."""
    return any(codec_of(label) is None for label in _labels(body, content_type, in_meta=True))


@cache
def _codecs() -> dict[str, str]:
    """Python's name for every spelling of an allowed encoding: codecs.lookup() would cache invented names as well.

    Made at the first use, since a lookup imports the module of the codec.
    """
    modules = {aliases.get(name, name): name for name in map(normalize_encoding, _NAMES.split())}
    spellings = [*aliases.items(), *zip(modules, modules, strict=True)]
    return {spelling: codecs.lookup(modules[module]).name for spelling, module in spellings if module in modules}


def codec_of(label: str | None) -> str | None:
    """Python's name of the codec for an encoding label; None if the label is unknown or not allowed."""
    name = (label or "").strip().lower().removeprefix("x-").removesuffix("-i").replace("windows-", "cp")
    spelling = normalize_encoding(_LABELS.get(name, name))
    return _codecs().get(spelling) or _codecs().get(spelling.replace(".", "_"))


def _declared(labels: Iterable[str]) -> dict[str, str]:
    """The codec of each declared label, in their order; labels that name no encoding of text are left out."""
    codecs_of = {label: codec_of(label) for label in labels}
    return {_LABELS.get(label, label): codec for label, codec in codecs_of.items() if codec}


def _labels(body: bytes, content_type: str | None, *, in_meta: bool = False) -> list[str]:
    """The labels of HTTP, prolog and (with `in_meta`) the first `<meta>` that has one, in lower case.

    A `text/…` type without charset means ASCII (RFC 2046 section 4.1.2), which is accepted only if the body is ASCII.
    """
    kind = (content_type or "")[:_LONGEST_TYPE]
    http, prolog = _CHARSET.search(kind), _PROLOG.search(body, 0, 2048)
    meta = _META.search(body, 0, _META_WITHIN) if in_meta else None
    named = (
        http[1] if http and codec_of(http[1]) else "us-ascii" if kind.startswith("text/") and body.isascii() else None
    )
    inside = (found[1].decode("ascii", "replace") for found in (prolog, meta) if found)
    return [label.lower() for label in (named or (http and http[1]), *inside) if label]


def _forgiving(body: bytes, codec: str, *notes: str) -> Decoded:
    text = body.decode(codec, "replace")
    bad = ("bad_bytes",) if "\ufffd" in text and not _survives(body, codec) else ()
    return Decoded(text, codec, notes + bad)


def _survives(body: bytes, codec: str) -> bool:
    try:
        body.decode(codec)
    except UnicodeDecodeError:
        return False
    return True


def _wide(body: bytes, codec: str, declared: dict[str, str]) -> Decoded:
    """The text of a document whose first characters show UTF-16, UTF-32 or EBCDIC."""
    prolog = _EBCDIC_PROLOG.match(body[:512].decode(codec, "replace"))
    stated = codec_of(prolog[1]) if prolog else None
    if codec == "cp037" and stated and _survives(body, stated):
        return Decoded(body.decode(stated), stated)
    lied = any(not name.startswith(codec[:6]) for name in [stated, *declared.values()] if name)
    return _forgiving(body, codec, *(("encoding_lied",) if lied else ()))


def _utf8(body: bytes, declared: dict[str, str]) -> Decoded | None:
    """The text if the body is UTF-8; None if not.

    Tolerated: a character cut off at the end; and invalid bytes, if UTF-8 is declared and they are no more than the
    valid characters beyond ASCII, or no encoding is declared and they are a third of these at most: texts that were
    cut within a character, and parts that were never encoded in UTF-8.
    """
    label, codec = next(iter(declared.items()), ("utf-8", "utf-8"))
    if body.isascii():
        return None if _ESCAPES.search(body) else Decoded(body.decode("ascii"), label)
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
        bad, wide = text.count("\ufffd"), len(text) - len(text.encode("ascii", "ignore"))
        least = 4 if not declared else 2 if "utf-8" in declared.values() else math.inf
        if bad * least <= wide:
            return Decoded(body.decode("utf-8", SLIPS), "utf-8", ("bad_bytes",))
        return None
    lied = ("encoding_lied",) if codec != "utf-8" else ()
    once = encoded_once(text)
    return Decoded(once, "utf-8", (*lied, "encoded_twice")) if once else Decoded(text, "utf-8", lied)


def _by_declaration(body: bytes, declared: dict[str, str]) -> Decoded | None:
    """The text in the first declared encoding with at most 1 % invalid characters; None if there is none."""
    for label, codec in declared.items():
        meant = _SUPERSETS.get(codec, codec)
        if meant.startswith(("utf-", "ascii")):
            continue
        text = body.decode(meant, "replace")
        bad = text.count("\ufffd")
        if bad <= _TOLERATED * len(text):
            return Decoded(text, label, ("bad_bytes",) if bad else ())
    return None


def _detected(body: bytes, declared: dict[str, str]) -> Decoded:
    """The text in the encoding that chardet detects; Latin and Cyrillic encodings are then chosen by letters."""
    import chardet  # noqa: PLC0415 - its models take 0.1 s to import, and few documents need detection

    first = _TELLING.search(body)
    start = first.start() if first else 0
    sample = _LONG_WORD.sub(rb"\1", body[max(0, start - 1024) : start + _SAMPLE_BYTES])
    name = (chardet.detect(sample)["encoding"] or "").lower()
    codec = codec_of(name)
    meant = _SUPERSETS.get(codec or "", codec or "cp1252")
    if codec is None or codec in _LATIN:
        name = meant = codec_by_letters(sample, LATIN + ARABIC)
    elif codec in CYRILLIC and (other := codec_by_letters(sample, cyrillic(meant) + ARABIC)) != meant:
        name = meant = other
    found = _forgiving(body, meant, "encoding_lied" if declared else "encoding_detected")
    return replace(found, encoding=name)
