"""Malformed XML made well-formed: each step takes text and answers text and the codes of what it mended."""

from __future__ import annotations

import html.entities
import re
from xml.sax.saxutils import escape

from feedcrawl.domain.feeds.formats.names import WELL_KNOWN
from feedcrawl.domain.feeds.formats.vocabulary import ROOT_ATTRIBUTES, ROOTS

NAME = r"[A-Za-z_\u00c0-\ufffd][\w.·-]*(?::[\w.·-]+)?"
_PROLOG = re.compile(
    r"\s*(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE(?:[^\[>\"']|\"[^\"]*\"|'[^']*')*(?:\[.*?\]\s*)?>)", re.DOTALL | re.IGNORECASE
)
_ROOT = re.compile(rf"\s*<(?:[\w-]+:)?(?:{'|'.join(sorted(ROOTS))})\b", re.IGNORECASE)
_LATER_ROOT = re.compile(
    "|".join(rf"<(?:[\w-]+:)?{name}\s[^<>]*{attribute}" for name, attribute in ROOT_ATTRIBUTES.items()), re.IGNORECASE
)
_DOCTYPE = re.compile(r"<!DOCTYPE", re.IGNORECASE)
_ENTITY = re.compile(r"<!ENTITY\s+(\w{1,40})\s+(?:\"([^\"&%<]{0,24}|&#\w{1,8};)\"|'([^'&%<]{0,24}|&#\w{1,8};)')\s*>")

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Windows characters under numbers that Unicode has control characters for (HTML, section 13.2.5.80).
_WINDOWS = re.compile("[\x80-\x9f]")
_WINDOWS_CHARACTERS = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}
_REFERENCE = re.compile(
    r"(?P<skip><!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z))|&(?:#(?:[xX](?P<hex>[0-9a-fA-F]+)|(?P<dec>[0-9]+));?"
    r"|(?P<name>\w+);)?",
    re.DOTALL | re.ASCII,
)
_PREDEFINED = frozenset({"amp", "lt", "gt", "quot", "apos"})
_USED_PREFIX = re.compile(r"(?:</?|\s)([A-Za-z_][\w.-]*):[A-Za-z_][\w.-]*", re.ASCII)
_DECLARED_PREFIX = re.compile(r"\sxmlns:([\w.-]+)\s*=", re.ASCII)
_START = re.compile(rf"<({NAME})")

_MAX_EXPANDED = 2_000_000  # characters; entities are of 24 at most, and `&x;` takes three

Codes = list[str]


def has_root(text: str) -> bool:
    """Whether the root element of a feed is somewhere in the text."""
    return _LATER_ROOT.search(text) is not None


def body_of(text: str) -> tuple[str, Codes]:
    """The document from its root element on; declaration, comments, DOCTYPE and junk before it are gone.

    Harmless entities that the DOCTYPE declares are put in place; no other entity is ever expanded.
    """
    codes, start = [], 0
    while match := _PROLOG.match(text, start):
        start = match.end()
    if not _ROOT.match(text, start) and (later := _LATER_ROOT.search(text, start)):
        codes.append("junk_before_root")
        start = later.start()
    elif text[:start].lstrip() != text[:start]:
        codes += ["space_before_declaration"] if _declaration_is_late(text[:start]) else []
    return _with_entities(text[start:], _declared_entities(text[:start])), codes


def _declaration_is_late(prolog: str) -> bool:
    return "<?xml " in prolog and not prolog.startswith("<?xml ")


def _declared_entities(prolog: str) -> dict[str, str]:
    if not _DOCTYPE.search(prolog):
        return {}
    return {match[1]: match[2] or match[3] or "" for match in _ENTITY.finditer(prolog[:20_000])}


def _with_entities(text: str, declared: dict[str, str]) -> str:
    """The text with declared entities in place, if it is short enough for that not to blow it up."""
    if not declared or len(text) > _MAX_EXPANDED:
        return text
    return _REFERENCE.sub(lambda match: declared.get(match["name"] or "", match[0]), text)


def mend_characters(text: str) -> tuple[str, Codes]:
    """The text without characters that XML forbids, and with references that mean something."""
    codes: dict[str, None] = {}
    clean = _FORBIDDEN.sub("", text)
    if len(clean) != len(text):
        codes["control_characters"] = None
    clean = _without_open_end(_without_open_end(clean, "<!--", "-->"), "<![CDATA[", "]]>")
    if _WINDOWS.search(clean):
        clean = clean.translate(_WINDOWS_CHARACTERS)
        codes["windows_characters"] = None
    mended = _REFERENCE.sub(lambda match: _reference(match, codes), clean)
    return mended, list(codes)


def _without_open_end(text: str, start: str, end: str) -> str:
    """The text without marks of sections that never end, which would swallow all that follows."""
    last = text.rfind(end) + 1
    return text[:last] + text[last:].replace(start, "")


def declare_prefixes(text: str) -> tuple[str, Codes]:
    """The text with its undeclared prefixes declared on the root, the known ones as what they mean everywhere."""
    missing = set(_USED_PREFIX.findall(text)) - set(_DECLARED_PREFIX.findall(text)) - {"xml", "xmlns"}
    if not missing:
        return text, []
    return _START.sub(lambda match: match[0] + _declarations(missing), text, count=1), ["undeclared_prefix"]


def _reference(match: re.Match[str], codes: dict[str, None]) -> str:
    """One `&…` as XML understands it."""
    if match["skip"] is not None:
        return match[0]
    if match["hex"] or match["dec"]:
        return _character(match, codes)
    name = match["name"]
    if name in _PREDEFINED:
        return match[0]
    if name and (character := html.entities.html5.get(f"{name};")):
        codes["html_entities"] = None
        return escape(character)
    codes["unknown_entity" if name else "bare_ampersand"] = None
    return "&amp;" + match[0][1:]


def _character(match: re.Match[str], codes: dict[str, None]) -> str:
    """A numeric reference; one that no character has means nothing."""
    digits = match["hex"] or match["dec"]
    number = int(digits[:8], 16 if match["hex"] else 10)
    character = _WINDOWS_CHARACTERS.get(number) or chr(min(number, 0x10FFFF))
    if _FORBIDDEN.match(character) or number > 0x10FFFF:
        codes["bad_reference"] = None
        return ""
    return escape(character)


def _declarations(prefixes: set[str]) -> str:
    return "".join(
        f' xmlns:{prefix}="{WELL_KNOWN.get(prefix, f"urn:undeclared:{prefix}")}"' for prefix in sorted(prefixes)
    )
