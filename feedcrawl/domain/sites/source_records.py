"""Sources as entries of the sources file, for callers that read and write single sources."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.sites.sources import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES: Final = {
    "article_patterns": "article_url_patterns",
    "listing_patterns": "listing_url_patterns",
    "keep_trailing_slash": "trailing_slash",
    "bind_addresses": "bind_address",
    "proxies": "proxy",
}
"""Fields of a Source with another name in the file."""


def source_record(source: Source) -> dict[str, object]:
    """The entry from which `sources.read_source` makes the same source; fields at their default are left out."""
    default = asdict(Source(source.name, source.base_url))
    fields = {
        _NAMES.get(name, name): _plain(value)
        for name, value in asdict(source).items()
        if name in ("name", "base_url") or value != default[name]
    }
    return fields | ({"trailing_slash": "keep"} if source.keep_trailing_slash else {})


def _plain(value: object) -> object:
    """The value with lists in place of tuples; empty selectors are left out."""
    if isinstance(value, dict):
        return {name: list(each) for name, each in value.items() if each}
    return list(value) if isinstance(value, tuple) else value


def changed(before: Mapping[str, Source], after: Mapping[str, Source]) -> dict[str, Source]:
    """The sources that are new or have changed."""
    return {name: source for name, source in after.items() if before.get(name) != source}
