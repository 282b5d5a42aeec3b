"""Days of publication that a page carries for programs: in its URL and in JSON of its scripts and attributes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.structured import load_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from feedcrawl.domain.extraction.page import Page

_IN_PATH = re.compile(r"/((?:19|20)\d\d)[/-]?(0[1-9]|1[0-2]|[1-9](?=[/-]))[/-]?(0[1-9]|[12]\d|3[01])(?=[/_.-]|$)")
_COMPACT_DAY_IN_PATH = re.compile(r"[/_-]((?:199|20[0-4])\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=[/_.-]|$)")
_DAY_IN_PATH = re.compile(r"[/~_-](0[1-9]|[12]\d|3[01])-(0[1-9]|1[0-2])-((?:19|20)\d\d)(?=[/_.-]|$)")
_NAMED_MONTH_IN_PATH = re.compile(r"/((?:19|20)\d\d)[/-]([^\W\d_]{3,12})[/-](0?[1-9]|[12]\d|3[01])(?=[/_.-]|$)")
_STATED = re.compile(
    r"\"(?:datePublished|publishedAt|published_at|firstPublished(?:At|Date)?|publishDate|publish(?:ed)?_date|pubDate"
    r"|date_published|publicationDate|created_at|date)\\*\"\s*:\s*\\*\"(\d{4}-\d\d-\d\d[^\"\\]{0,20})"
)
_HINTS = ("ublish", "pubDate", "ublication", "created_at", '"date')
"""One of these stands where the expression matches: scripts without them need not be searched."""
_DAY = len("2017-06-01")
_MIN_STATE = 40


def in_scripts(page: Page) -> Iterator[str]:
    """Days of publication in JSON that the page's scripts read."""
    for script in page.elements.of("script"):
        if match := _stated_in(script.text or ""):
            yield match[1]


def in_broken_data(page: Page) -> Iterator[str]:
    """Days of publication in structured data that is no valid JSON."""
    for script in page.elements.of("script"):
        match = _stated_in(script.text or "") if script.get("type") == "application/ld+json" else None
        if match and load_json(script.text) is None:
            yield match[1]


def _stated_in(text: str) -> re.Match[str] | None:
    return _STATED.search(text) if any(map(text.__contains__, _HINTS)) else None


def in_attributes(page: Page) -> Iterator[str]:
    """Days of publication in JSON that attributes carry for scripts."""
    body = page.tree.find("body")
    for element in body.iterdescendants() if body is not None else ():
        for value in element.values():
            if len(value) > _MIN_STATE and (match := _STATED.search(value)):
                yield from (match[1], match[1][:_DAY])


def in_path(url: str) -> Iterator[str]:
    """A day in the path of a URL, with the year first or last, or with the month as a word: /2024/feb/24/."""
    if match := _IN_PATH.search(url):
        yield "{}-{:0>2}-{:0>2}".format(*match.groups())
    elif match := _COMPACT_DAY_IN_PATH.search(url):
        yield "{}-{}-{}".format(*match.groups())
    elif match := _DAY_IN_PATH.search(url):
        yield "{2}-{1}-{0}".format(*match.groups())
    elif match := _NAMED_MONTH_IN_PATH.search(url):
        yield "{2} {1} {0}".format(*match.groups())
