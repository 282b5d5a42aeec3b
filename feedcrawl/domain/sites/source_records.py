"""A source as an entry of the file of sources says it, for whoever reads and writes sources one by one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from feedcrawl.domain.sites.sources import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES: Final = {
    "article_patterns": "article_url_patterns",
    "listing_patterns": "listing_url_patterns",
    "keep_trailing_slash": "trailing_slash",
}
"""Fields of a Source that have another name in the file."""


def source_record(source: Source) -> dict[str, Any]:
    """What `sources.read_source` makes the same source of; what is at its default is left out."""
    default = asdict(Source(source.name, source.base_url))
    said = {
        _NAMES.get(name, name): _plain(value)
        for name, value in asdict(source).items()
        if name in ("name", "base_url") or value != default[name]
    }
    return said | ({"trailing_slash": "keep"} if source.keep_trailing_slash else {})


def _plain(value: Any) -> Any:
    """Tuples as lists; of selectors those that there are."""
    if isinstance(value, dict):
        return {name: list(each) for name, each in value.items() if each}
    return list(value) if isinstance(value, tuple) else value


def changed(before: Mapping[str, Source], after: Mapping[str, Source]) -> dict[str, Source]:
    """The sources that are new or other than before."""
    return {name: source for name, source in after.items() if before.get(name) != source}
