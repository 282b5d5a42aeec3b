"""Malformed XML made well-formed: each step takes text and answers text and the codes of what it mended."""

from __future__ import annotations

import html.entities
import re
from xml.sax.saxutils import escape

from feedcrawl.domain.feeds.names import WELL_KNOWN

_NAME = r"[A-Za-z_\u00c0-\ufffd][\w.·-]*(?::[\w.·-]+)?"
_PROLOG = re.compile(
    r"\s*(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE(?:[^\[>\"']|\"[^\"]*\"|'[^']*')*(?:\[.*?\]\s*)?>)", re.DOTALL | re.IGNORECASE
)
_ROOT = re.compile(r"\s*<(?:[\w-]+:)?(?:rss|rdf|feed|channel)\b", re.IGNORECASE)
_LATER_ROOT = re.compile(
    r"<rss\s[^<>]*version|<(?:[\w-]+:)?RDF\s[^<>]*xmlns|<(?:[\w-]+:)?feed\s[^<>]*xmlns", re.IGNORECASE
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
_START = re.compile(rf"<({_NAME})")

_TOKEN = re.compile(
    rf"<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<![A-Za-z][^>]*>"
    rf"|</\s*(?P<end>{_NAME})[^<>]*>|<(?P<start>{_NAME})(?P<attributes>(?:[^<>\"']++|\"[^\"]*\"|'[^']*')*+|[^<>]*+)>"
    rf"|(?P<text>[^<]++|<)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(rf"({_NAME})\s*=\s*(?:\"([^\"<]*)\"|'([^'<]*)'|([^\s\"'<>=]+))")
_ENTRIES = frozenset({"item", "entry"})
_HOLDERS = frozenset({"channel", "feed", "items", "rss", "rdf"})
# They hold text alone: what begins inside one shows that its end was forgotten.
_TEXT_ONLY = (
    "copyright docs generator guid id language lastbuilddate link managingeditor pubdate published ttl updated url"
)
_LEAVES = frozenset(_TEXT_ONLY.split())
_MAX_DEPTH = 200

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
    declared = _declared_entities(text[:start])
    body = text[start:]
    for name, value in declared.items():
        body = body.replace(f"&{name};", value)
    return body, codes


def _declaration_is_late(prolog: str) -> bool:
    return "<?xml " in prolog and not prolog.startswith("<?xml ")


def _declared_entities(prolog: str) -> dict[str, str]:
    if not _DOCTYPE.search(prolog):
        return {}
    return {match[1]: match[2] or match[3] or "" for match in _ENTITY.finditer(prolog[:20_000])}


def mend_characters(text: str) -> tuple[str, Codes]:
    """The text without characters that XML forbids, references that mean something, and prefixes declared."""
    codes: dict[str, None] = {}
    clean = _FORBIDDEN.sub("", text)
    if len(clean) != len(text):
        codes["control_characters"] = None
    clean = _without_open_end(_without_open_end(clean, "<!--", "-->"), "<![CDATA[", "]]>")
    if _WINDOWS.search(clean):
        clean = clean.translate(_WINDOWS_CHARACTERS)
        codes["windows_characters"] = None
    mended = _REFERENCE.sub(lambda match: _reference(match, codes), clean)
    return _with_prefixes(mended, codes), list(codes)


def _without_open_end(text: str, start: str, end: str) -> str:
    """The text without marks of sections that never end, which would swallow all that follows."""
    last = text.rfind(end) + 1
    return text[:last] + text[last:].replace(start, "")


def _with_prefixes(text: str, codes: dict[str, None]) -> str:
    """The text with its undeclared prefixes declared on the root."""
    missing = set(_USED_PREFIX.findall(text)) - set(_DECLARED_PREFIX.findall(text)) - {"xml", "xmlns"}
    if not missing:
        return text
    codes["undeclared_prefix"] = None
    return _START.sub(lambda match: match[0] + _declarations(missing), text, count=1)


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


def balance(text: str) -> tuple[str, Codes]:
    """The text with every element closed, stray end tags dropped, and an entry never inside another one.

    Ends with the root element; what comes after it (a second root, junk) is dropped.
    """
    writer = _Balancer()
    for match in _TOKEN.finditer(text):
        writer.take(match)
        if writer.closed:
            break
    return _with_prefixes(writer.finish(), writer.codes), list(writer.codes)


class _Balancer:
    """Writes tokens as well-formed XML and keeps the open elements."""

    def __init__(self) -> None:
        self.codes: dict[str, None] = {}
        self.closed = False
        self._open: list[str] = []
        self._out: list[str] = []

    def take(self, match: re.Match[str]) -> None:
        """Write one token."""
        if match["start"]:
            self._start(match["start"], match["attributes"])
        elif match["end"]:
            self._end(match["end"])
        elif match["cdata"] is not None and self._open:
            self._out.append(escape(match["cdata"]))
        elif match["text"] and self._open:
            self._out.append(match["text"].replace("<", "&lt;").replace("]]>", "]]&gt;"))

    def finish(self) -> str:
        """All that was written, with what is open closed."""
        if self._open:
            self.codes["truncated"] = None
        while self._open:
            self._out.append(f"</{self._open.pop()}>")
        return "".join(self._out)

    def _start(self, name: str, attributes: str) -> None:
        if self._open and _local(self._open[-1]) in _LEAVES:
            self._close_to(self._open[-1])
            self.codes["unclosed_element"] = None
        if _local(name) in _ENTRIES:
            self._leave_for_entry()
        if len(self._open) >= _MAX_DEPTH:
            self.codes["too_deep"] = None
            return
        empty = attributes.rstrip().endswith("/")
        self._out.append(f"<{name}{_attributes(attributes)}{'/' * empty}>")
        if not empty:
            self._open.append(name)

    def _leave_for_entry(self) -> None:
        """Close what is open between the innermost holder of entries and the next entry."""
        while any(_local(name) in _HOLDERS for name in self._open) and _local(self._open[-1]) not in _HOLDERS:
            self._out.append(f"</{self._open.pop()}>")
            self.codes["unclosed_element"] = None

    def _end(self, name: str) -> None:
        if name in self._open:
            self._close_to(name)
            self.closed = not self._open
        else:
            self.codes["stray_end_tag"] = None

    def _close_to(self, name: str) -> None:
        """Close the innermost open element of this name and all inside it."""
        while (last := self._open.pop()) != name:
            self.codes["unclosed_element"] = None
            self._out.append(f"</{last}>")
        self._out.append(f"</{name}>")


def _local(name: str) -> str:
    return name.rpartition(":")[2].lower()


def _attributes(text: str) -> str:
    """The attributes that can be read, each once, in double quotes."""
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(text):
        found.setdefault(match[1], next(group for group in match.groups()[1:] if group is not None))
    return "".join(f' {name}="{value.replace(chr(34), "&quot;")}"' for name, value in found.items())
