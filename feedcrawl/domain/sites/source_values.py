"""Readers of the values of a source's fields in the file; each ValueError states the expected form."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.extraction.rules import fault
from feedcrawl.domain.frontier.priority import HIGHEST, LOWEST
from feedcrawl.domain.models import SourceRules
from feedcrawl.domain.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_NAME: Final = 100


def read_name(value: object) -> str:
    """A short text. ValueError states the expected form."""
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME:
        raise ValueError(f"a text of at most {MAX_NAME} characters")
    return value.strip()


def read_names(value: object) -> tuple[str, ...]:
    """A short text or a list of them. ValueError states the expected form."""
    return tuple(map(read_name, _listed(value)))


def read_url(value: object) -> str:
    """An absolute URL. ValueError states the expected form."""
    try:
        return resolve(value) if isinstance(value, str) else _no_url()
    except InvalidUrl:
        return _no_url()


def _no_url() -> str:
    raise ValueError("an absolute http:// or https:// URL")


def read_urls(value: object) -> tuple[str, ...]:
    """An absolute URL or a list of them. ValueError states the expected form."""
    return tuple(map(read_url, _listed(value)))


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def read_rank(value: object) -> int:
    """A priority. ValueError states the expected form."""
    if not isinstance(value, int) or isinstance(value, bool) or not LOWEST <= value <= HIGHEST:
        raise ValueError(f"a whole number from {LOWEST} to {HIGHEST}")
    return value


def read_seconds(value: object) -> float:
    """A number of seconds. ValueError states the expected form."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < 10**9:
        raise ValueError("a number of seconds above 0")
    return float(value)


def read_minutes(value: object) -> float:
    """A number of minutes, in seconds. ValueError states the expected form."""
    try:
        return read_seconds(value) * 60
    except ValueError:
        raise ValueError("a number of minutes above 0") from None


def read_patterns(value: object) -> tuple[str, ...]:
    """Regular expressions, one or a list. ValueError states the expected form."""
    return tuple(map(_pattern, _listed(value)))


def _pattern(value: object) -> str:
    try:
        return re.compile(value).pattern if isinstance(value, str) else _no_pattern()
    except re.error as error:
        raise ValueError(f"a regular expression or a list of them ({error})") from None


def _no_pattern() -> str:
    raise ValueError("a regular expression or a list of them")


def selectors(value: object) -> SourceRules:
    """A source's `selectors` from their form in the file. Raises ValueError with the expected form or the fault."""
    names = [each.name for each in fields(SourceRules)]
    if not isinstance(value, dict) or not set(value) <= set(names):
        raise ValueError(f"a mapping with some of {', '.join(names)}")
    chosen = {name: _selectors(each) for name, each in value.items() if each is not None}
    faults = [f"{name}: {wrong}" for name, texts in chosen.items() for text in texts if (wrong := fault(text))]
    if faults:
        raise ValueError(f"valid CSS or XPath ({'; '.join(faults)})")
    return SourceRules(**chosen)


def _selectors(value: object) -> tuple[str, ...]:
    listed = _listed(value)
    texts = tuple(text for text in listed if isinstance(text, str) and text)
    if len(texts) != len(listed):
        raise ValueError("CSS or XPath selectors, each a text or a list of texts")
    return texts


def one_of(*words: str) -> Callable[[object], str]:
    """A reader of one of the words."""

    def read(value: object) -> str:
        if value not in words:
            raise ValueError(" or ".join(words))
        return str(value)

    return read


def read_flag(value: object) -> bool:
    """True or false. ValueError states the expected form."""
    if not isinstance(value, bool):
        raise ValueError("true or false")  # noqa: TRY004 - readers raise ValueError
    return value


def read_slash(value: object) -> bool:
    """True if URLs keep their trailing slash. ValueError states the expected form."""
    return one_of("remove", "keep")(value) == "keep"
