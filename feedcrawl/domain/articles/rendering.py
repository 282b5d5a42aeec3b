"""The decisions which pages are rendered in a browser, and which resources a browser may load for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.extraction.bodies.choice import FULL_LENGTH
from feedcrawl.domain.urls import hostname

if TYPE_CHECKING:
    from feedcrawl.domain.sites.sources import Render

# A page without scripts shows the same text in a browser.
_SCRIPTED = re.compile(r"<(?:\w+:)?script\b|\son[a-z]+\s*=", re.IGNORECASE)
_LOOKED_AT = 512 << 10  # characters: a whole page of 5 MiB would hold up the event loop for 0.2 s
# A page that is closed to readers is closed to us: a browser must not circumvent that.
_CLOSED = ("challenge", "paywall", "teaser")
_ELSEWHERE = ("front_page",)  # the page that was requested is not the one that a browser would show
# Resource types of Chromium's DevTools protocol that add nothing to a page's text. A frame is a page of its own.
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


def wants_rendering(mode: Render, html: str, *, refusal: str | None, feed_text: int | None) -> bool:
    """True if a page should be rendered, given the result of its plain HTML.

    `refusal`: why the plain HTML was refused (`FAIL_EMPTY: javascript: …`), None if it was an article. `feed_text`:
    length of a text that came from a feed that is not trusted for full text, else None. `auto` renders a page that has
    scripts and no text of its own.
    """
    code, _, detail = (refusal or "").partition(": ")
    if mode == "never" or code not in {"", "FAIL_EMPTY", "FAIL_BAD_HTML"} or detail.startswith(_CLOSED + _ELSEWHERE):
        return False
    if mode == "always":
        return True
    bare = refusal is not None or (feed_text is not None and feed_text < FULL_LENGTH)
    return bare and _SCRIPTED.search(html, 0, _LOOKED_AT) is not None


def may_load(url: str, kind: str, *, page_url: str | None) -> bool:
    """True if a page may load a resource.

    `kind`: its resource type. `page_url`, only for the page itself: the requested URL, whose host must not change,
    because another host has its own pace and rules.
    """
    if urlsplit(url).scheme not in {"http", "https"} or kind in _NEEDLESS:
        return False
    try:
        return page_url is None or hostname(url) == hostname(page_url)
    except InvalidUrl:
        return False
