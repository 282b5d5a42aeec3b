"""Pages that send their reader on by `Refresh:` or `<meta http-equiv=refresh>` (WHATWG HTML section 4.2.5.3)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.http.encodings import decode_page
from feedcrawl.domain.markup import start_tags
from feedcrawl.domain.urls import resolve

MAX_DELAY_SEC: Final = 10
"""A longer delay reloads a page that is meant to be read; a shorter delay leads on to the page that is meant."""

_MENTION = re.compile("refresh", re.IGNORECASE)
_DIRECTIVE = re.compile(
    r"""\s*(?P<seconds>\d{1,9}|(?=\.))[\d.]*(?>\s*[;,]|\s)\s*+(?:url\s*=\s*)?+(?P<quote>["']?)(?P<url>.+)""",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Refresh:
    """The page that a refresh leads to. `url` is absolute; `scriptless` is True if only readers without scripts are
    sent on (`<noscript>`).
    """

    url: str
    scriptless: bool = False


def find_refresh(html: bytes | str, *, url: str, header: str | None = None) -> Refresh | None:
    """The refresh of a page at `url` to another page within MAX_DELAY_SEC; None if there is none.

    `header` is the value of the Refresh header, which counts before the document. A page that reloads itself, or names
    no web URL, is not sent on. A meta element for all readers counts before that of a `<noscript>`.
    """
    found = [Refresh(target) for target in [_target(header or "", url, url)] if target]
    text = html if isinstance(html, str) else decode_page(html).text
    if not _MENTION.search(text):
        return found[0] if found else None
    base, is_scriptless = url, False
    for name, attributes in start_tags(text, {"base", "meta", "noscript", "/noscript"}):
        if name == "base":
            base = _resolved(attributes.get("href", ""), url) or base
        elif name == "meta":
            is_refresh = attributes.get("http-equiv", "").strip().lower() == "refresh"
            target = _target(attributes.get("content", ""), base, url) if is_refresh else None
            found += [Refresh(target, is_scriptless)] if target else []
        else:
            is_scriptless = name == "noscript"
    return min(found, key=lambda refresh: refresh.scriptless, default=None)


def _target(directive: str, base: str, page: str) -> str | None:
    """The other page that a directive (`5; url=/next`) leads to in time."""
    read = _DIRECTIVE.match(directive)
    if read is None or int(read["seconds"] or 0) > MAX_DELAY_SEC:
        return None
    named = read["url"].partition(read["quote"])[0] if read["quote"] else read["url"]
    target = _resolved(named, base)
    return target if target != resolve(page) else None


def _resolved(href: str, base: str) -> str | None:
    try:
        return resolve(href, base) if href.strip() else None
    except InvalidUrl:
        return None
