"""URLs with the schemes that programs register for feeds."""

from __future__ import annotations

import re

_WEB_SCHEME = re.compile(r"https?:", re.IGNORECASE)
_FEED_SCHEME = re.compile(r"\s*(feeds?|pcast|itpc):(?://)?", re.IGNORECASE)


def without_feed_scheme(url: str) -> str:
    """A URL without the schemes that programs register for feeds (`feed`, `feeds`, `pcast`, `itpc`), in any form.

    `feed:https://a.test/` becomes `https://a.test/`; `feeds://a.test/` too. `feed://a.test/`, `pcast:a.test/` and their
    like become `//a.test/`, since they say nothing about the scheme. Other URLs are unchanged.
    """
    found = _FEED_SCHEME.match(url)
    if found is None:
        return url
    rest = url[found.end() :]
    if _WEB_SCHEME.match(rest):
        return rest
    return f"{'https:' if found[1].lower() == 'feeds' else ''}//{rest}"
