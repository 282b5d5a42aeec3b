"""Which pages are worth a browser, and what it may load for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import hostname

if TYPE_CHECKING:
    from feedcrawl.domain.sites.sources import Render

SHORT_LENGTH: Final = 700
"""A feed's text below this is rather a teaser of the page than its article."""

# What a page without any of this shows is what it always shows.
_SCRIPTED = re.compile(r"<(?:\w+:)?script\b|\son[a-z]+\s*=", re.IGNORECASE)
_LOOKED_AT = 512 << 10  # characters: what all of a page of 5 MiB takes, 0.2 s, the event loop has not
# Whoever closes a page to readers closes it to us: a browser is no way round.
_CLOSED = ("challenge", "paywall", "teaser")
# Resource types of Chromium's DevTools protocol that add nothing to the text of a page. A frame is a page of its own.
_NEEDLESS = frozenset(
    {
        "image",
        "media",
        "font",
        "texttrack",
        "manifest",
        "ping",
        "eventsource",
        "cspviolationreport",
        "prefetch",
        "frame",
    }
)


def wants_rendering(mode: Render, html: str, *, refusal: str | None, feed_text: int | None = None) -> bool:
    """Whether a page should be rendered, given what came of its plain HTML.

    `refusal` is what it was refused with (`FAIL_EMPTY: javascript: …`), None for an article; `feed_text` the length of
    a text that only the feed had. `auto` renders a page that has scripts and no text of its own.
    """
    code, _, detail = (refusal or "").partition(": ")
    if mode == "never" or code not in {"", "FAIL_EMPTY", "FAIL_BAD_HTML"} or detail.startswith(_CLOSED):
        return False
    if mode == "always":
        return True
    bare = refusal is not None or (feed_text is not None and feed_text < SHORT_LENGTH)
    return bare and _SCRIPTED.search(html, 0, _LOOKED_AT) is not None


def may_load(url: str, kind: str, *, asked: str | None = None) -> bool:
    """Whether a page may load this. `kind` is the resource type; `asked`, for the page itself, the URL it has to stay
    with: another host has pace and rules of its own.
    """
    if urlsplit(url).scheme not in {"http", "https"} or kind in _NEEDLESS:
        return False
    try:
        return asked is None or hostname(url) == hostname(asked)
    except InvalidUrl:
        return False
