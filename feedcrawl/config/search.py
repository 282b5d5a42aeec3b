"""Settings of the search index."""

from __future__ import annotations

from dataclasses import dataclass

from feedcrawl.domain.operations.settings import setting


@dataclass(frozen=True)
class SearchSettings:
    """The search index."""

    search: str = setting(
        "embedded",
        "embedded or off",
        "`embedded` keeps a search index in the data directory, by every crawl, `scrapy api` and `scrapy index`",
        section="Search",
        choices=("embedded", "off"),
    )
