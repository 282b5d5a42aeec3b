"""robots.txt (RFC 9309): the URLs that a site forbids to crawlers, its delay, and its sitemaps.

Protego matches the rules. Where it reads a file differently from the RFC, the text is corrected first: line ends, bytes
that are not UTF-8, and the group of a crawler. Work is bounded: Protego copies each rule to each agent of its group, so
that it gets the name of one agent at a time; it tries each wildcard on each URL, so that wildcards beyond MAX_WILDCARDS
are dropped.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Final

from protego import Protego

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_BYTES: Final = 512 * 1024  # RFC 9309 section 2.5 requires at least 500 KiB
MAX_LINE: Final = 8 * 2083 - 1  # characters, as in Google's parser; each rule is matched against each URL
MAX_SITEMAPS: Final = 1000
MAX_WILDCARDS: Final = 4000
"""Maximum number of asterisks in the rules of one robots.txt; this number costs 0.1 s for a URL of 8 KiB."""

_AGENT = "User-agent: "
_LINE_END = re.compile(r"\r\n|\r|\n")
# Line ends of str.splitlines() that are no line ends by section 2.2.
_OTHER_BREAKS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_BAD_OCTET = re.compile("[\udc80-\udcff]")
_AGENT_LINE = re.compile(r"[ \t]*user[- ]?agent(?:[ \t]*:|[ \t]+)[ \t]*([^#]*)", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z_-]*")
_PARTIAL_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF8[:2], codecs.BOM_UTF8[:1])


def parse(body: bytes) -> RobotsRules:
    """The rules of the first 512 KiB of a robots.txt; accepts any bytes, and ignores lines that are no rules."""
    lines: list[str] = []
    dropped: list[str] = []
    wildcards = 0
    for line in map(_read_line, _LINE_END.split(_text(body))):
        asterisks = 0 if line.startswith(_AGENT) else line.count("*")
        wildcards += asterisks
        if asterisks and wildcards > MAX_WILDCARDS:
            dropped.append(line)
            lines.append("Disallow:")  # ends the list of agents of its group, as the dropped rule would
        else:
            lines.append(line)
    return RobotsRules(lines, dropped)


class RobotsRules:
    """The rules of one site. An agent is a product token (`feedcrawl`), or a user agent header that begins with one.

    `sitemaps` has the URLs after `Sitemap:` as published, each once; `dropped` the rules beyond MAX_WILDCARDS. The
    rules of an agent are parsed when they are first used (0.2 s for 512 KiB).
    """

    __slots__ = ("_by_group", "_text", "_tokens", "dropped", "sitemaps")

    def __init__(self, lines: Sequence[str], dropped: Sequence[str] = ()) -> None:
        self._text = "\n".join(lines)
        self._tokens = frozenset(line.removeprefix(_AGENT) for line in lines if line.startswith(_AGENT))
        self._by_group: dict[str, Protego] = {}
        self.dropped = tuple(dropped)
        sitemaps = (url.split()[0] for url in self._rules("*").sitemaps)
        self.sitemaps: tuple[str, ...] = tuple(dict.fromkeys(sitemaps))[:MAX_SITEMAPS]

    def allowed(self, url: str, agent: str) -> bool:
        """True if `agent` may fetch `url`: the longest matching rule decides, allow before disallow (2.2.2).

        /robots.txt is allowed unless a rule matches it, as in Google's specification tests; when robots.txt itself is
        fetched, there are no rules yet.
        """
        group = self._group(agent)
        return bool(self._rules(group).can_fetch(url.replace("/robots.txt", "/%72obots.txt"), group))

    def crawl_delay(self, agent: str) -> float | None:
        """Crawl-delay in seconds, as published: finite, not negative, of any size; None if there is none."""
        group = self._group(agent)
        delay = self._rules(group).crawl_delay(group)
        return None if delay is None else float(delay)

    def _group(self, agent: str) -> str:
        """The token of the group that applies to an agent: its own (section 2.2.1), else `*`."""
        token = agent.partition("/")[0].strip().lower()
        return token if token in self._tokens else "*"

    def _rules(self, group: str) -> Protego:
        """The rules of a group; all other agents are renamed to one name that no token can have."""
        if group not in self._by_group:
            lines = (
                f"{_AGENT}0" if line.startswith(_AGENT) and line != f"{_AGENT}{group}" else line
                for line in self._text.split("\n")
            )
            self._by_group[group] = Protego.parse("\n".join(lines))
        return self._by_group[group]


def _text(body: bytes) -> str:
    """The text without byte-order mark and truncated last line; invalid UTF-8 bytes are percent-encoded (2.2.2)."""
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES].rpartition(b"\n")[0]
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    mark = next((mark for mark in _PARTIAL_MARKS if body.startswith(mark)), b"")
    text = body.removeprefix(mark).decode("utf-8", "surrogateescape")
    return _BAD_OCTET.sub(lambda octet: f"%{ord(octet[0]) - 0xDC00:02X}", text)


def _read_line(line: str) -> str:
    """A line as Protego gets it; a user-agent line becomes `User-agent: ` and the product token."""
    line = _OTHER_BREAKS.sub(lambda found: "".join(f"%{octet:02X}" for octet in found[0].encode()), line[:MAX_LINE])
    named = _AGENT_LINE.match(line)
    return f"{_AGENT}{_product_token(named[1])}" if named else line


def _product_token(value: str) -> str:
    """The product token of a user-agent line: `*`, or its leading letters, underscores and hyphens (2.2.1)."""
    if value.split()[:1] == ["*"]:
        return "*"
    named = _TOKEN.match(value)
    return named[0].lower() if named else ""
