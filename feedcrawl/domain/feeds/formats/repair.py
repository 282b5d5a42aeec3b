"""Repairs malformed XML: each step takes a text, and returns the text and the codes of its repairs."""

from __future__ import annotations

import html.entities
import re
from xml.sax.saxutils import escape

from feedcrawl.domain.feeds.formats.names import WELL_KNOWN
from feedcrawl.domain.feeds.formats.vocabulary import ROOT_ATTRIBUTES, ROOTS
from feedcrawl.domain.markup import NOT_XML

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

# Windows characters in the range of Unicode's C1 control characters (HTML, section 13.2.5.80).
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

_MAX_EXPANDED = 2_000_000  # characters; an entity has at most 24, and a reference (`&x;`) at least three

Codes = list[str]


def has_root(text: str) -> bool:
    """True if the text contains the root element of a feed anywhere."""
    return _LATER_ROOT.search(text) is not None


def body_of(text: str) -> tuple[str, Codes]:
    """The document from its root element on, without declaration, comments, DOCTYPE and junk before it; and codes.

    Harmless entities of the DOCTYPE are replaced by their values; no other entity is ever expanded.
    """
    codes, start = [], 0
    while match := _PROLOG.match(text, start):
        start = match.end()
    if not _ROOT.match(text, start) and (later := _LATER_ROOT.search(text, start)):
        codes.append("junk_before_root")
        start = later.start()
    return _with_entities(text[start:], _declared_entities(text[:start])), codes


def _declared_entities(prolog: str) -> dict[str, str]:
    if not _DOCTYPE.search(prolog):
        return {}
    return {match[1]: match[2] or match[3] or "" for match in _ENTITY.finditer(prolog[:20_000])}


def _with_entities(text: str, declared: dict[str, str]) -> str:
    """The text with declared entities replaced by their values; unchanged if the text is too long for that."""
    if not declared or len(text) > _MAX_EXPANDED:
        return text
    return _REFERENCE.sub(lambda match: declared.get(match["name"] or "", match[0]), text)


def mend_characters(text: str) -> tuple[str, Codes]:
    """The text without characters that XML forbids, and with all references valid; and codes."""
    codes: dict[str, None] = {}
    clean = NOT_XML.sub("", text)
    if len(clean) != len(text):
        codes["control_characters"] = None
    clean = _without_open_end(_without_open_end(clean, "<!--", "-->"), "<![CDATA[", "]]>")
    if _WINDOWS.search(clean):
        clean = clean.translate(_WINDOWS_CHARACTERS)
        codes["windows_characters"] = None
    mended = _REFERENCE.sub(lambda match: _reference(match, codes), clean)
    return mended, list(codes)


def _without_open_end(text: str, start: str, end: str) -> str:
    """The text without start marks of sections that are never closed, which would contain all the rest."""
    last = text.rfind(end) + 1
    return text[:last] + text[last:].replace(start, "")


def declare_prefixes(text: str) -> tuple[str, Codes]:
    """The text with undeclared prefixes declared on the root, common prefixes with their usual namespace; and codes."""
    missing = set(_USED_PREFIX.findall(text)) - set(_DECLARED_PREFIX.findall(text)) - {"xml", "xmlns"}
    if not missing:
        return text, []
    return _START.sub(lambda match: match[0] + _declarations(missing), text, count=1), ["undeclared_prefix"]


def _reference(match: re.Match[str], codes: dict[str, None]) -> str:
    """One `&…` in a form that is valid in XML."""
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
    """The character of a numeric reference; empty if the number is no character."""
    digits = match["hex"] or match["dec"]
    number = int(digits[:8], 16 if match["hex"] else 10)
    character = _WINDOWS_CHARACTERS.get(number) or chr(min(number, 0x10FFFF))
    if NOT_XML.match(character) or number > 0x10FFFF:
        codes["bad_reference"] = None
        return ""
    return escape(character)


def _declarations(prefixes: set[str]) -> str:
    return "".join(
        f' xmlns:{prefix}="{WELL_KNOWN.get(prefix, f"urn:undeclared:{prefix}")}"' for prefix in sorted(prefixes)
    )
