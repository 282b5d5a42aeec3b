"""robots.txt (RFC 9309): what a site asks crawlers to leave alone, how fast, and where its sitemaps are.

Protego matches the rules. What it reads differently from the RFC is put right before it sees the text: line ends,
octets that are no UTF-8, and which group a crawler belongs to.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

from protego import Protego

MAX_BYTES: Final = 512 * 1024  # RFC 9309 section 2.5 asks for 500 KiB at least
MAX_LINE: Final = 8 * 2083 - 1  # characters, as Google's parser has it; each rule is matched against each URL
MAX_SITEMAPS: Final = 1000

_LINE_END = re.compile(r"\r\n|\r|\n")
# What str.splitlines() takes for a line end and section 2.2 does not.
_OTHER_BREAKS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_BAD_OCTET = re.compile("[\udc80-\udcff]")
_AGENT_LINE = re.compile(r"[ \t]*user[- ]?agent(?:[ \t]*:|[ \t]+)[ \t]*([^#]*)", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z_-]*")
_PARTIAL_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF8[:2], codecs.BOM_UTF8[:1])


def parse(body: bytes) -> RobotsRules:
    """The rules in a robots.txt, at most its first 512 KiB; any bytes will do, and what is no rule is passed over."""
    tokens: set[str] = set()
    lines = [_read_line(line, tokens) for line in _LINE_END.split(_text(body))]
    return RobotsRules(Protego.parse("\n".join(lines)), frozenset(tokens))


class RobotsRules:
    """One site's rules. An agent is a product token (`feedcrawl`), or a user agent header that begins with it.

    `sitemaps`: the URLs after `Sitemap:` as published, each once.
    """

    __slots__ = ("_rules", "_tokens", "sitemaps")

    def __init__(self, rules: Protego, tokens: frozenset[str]) -> None:
        self._rules = rules
        self._tokens = tokens
        self.sitemaps: tuple[str, ...] = tuple(dict.fromkeys(url.split()[0] for url in rules.sitemaps))[:MAX_SITEMAPS]

    def allowed(self, url: str, agent: str) -> bool:
        """Whether `agent` may fetch `url`: the longest rule that matches decides, allow before disallow (2.2.2).

        /robots.txt is allowed unless a rule matches it, as in Google's specification tests; whoever fetches it has no
        rules to ask yet.
        """
        return bool(self._rules.can_fetch(url.replace("/robots.txt", "/%72obots.txt"), self._group(agent)))

    def crawl_delay(self, agent: str) -> float | None:
        """Seconds between two requests, as published: finite and not negative, but of any size. None without one."""
        delay = self._rules.crawl_delay(self._group(agent))
        return None if delay is None else float(delay)

    def _group(self, agent: str) -> str:
        """A name under which Protego finds the agent's group: an equal token's (section 2.2.1), else that of `*`."""
        token = agent.partition("/")[0].strip().lower()
        return token if token in self._tokens else ""


def _text(body: bytes) -> str:
    """UTF-8 text, without a mark or a torn last line; an octet that is none becomes its escape, as in URLs (2.2.2)."""
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES].rpartition(b"\n")[0]
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    mark = next((mark for mark in _PARTIAL_MARKS if body.startswith(mark)), b"")
    text = body.removeprefix(mark).decode("utf-8", "surrogateescape")
    return _BAD_OCTET.sub(lambda octet: f"%{ord(octet[0]) - 0xDC00:02X}", text)


def _read_line(line: str, tokens: set[str]) -> str:
    """A line as Protego shall see it; the token of a user-agent line is added to `tokens`."""
    line = _OTHER_BREAKS.sub(lambda found: "".join(f"%{octet:02X}" for octet in found[0].encode()), line[:MAX_LINE])
    named = _AGENT_LINE.match(line)
    if not named:
        return line
    token = _product_token(named[1])
    tokens.add(token)
    return f"User-agent: {token}"


def _product_token(value: str) -> str:
    """What a user-agent line names: `*`, or the letters, underscores and hyphens that it begins with (2.2.1)."""
    if value.split()[:1] == ["*"]:
        return "*"
    named = _TOKEN.match(value)
    return named[0].lower() if named else ""
