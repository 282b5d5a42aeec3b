"""Settings of the search index."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - read at run time, as the type of a setting

from feedcrawl.domain.operations.settings import setting


@dataclass(frozen=True, init=False, repr=False, eq=False)
class SearchSettings:
    """The search index."""

    search: str = setting(
        "embedded",
        "embedded or off",
        "`embedded` keeps a search index in the data directory, by every crawl, `scrapy api` and `scrapy index`",
        section="Search",
        choices=("embedded", "off"),
    )
    search_url: str | None = setting(
        None, "URL", "of an OpenSearch or Elasticsearch server that `scrapy index` keeps an index on, instead"
    )
    search_index: str = setting("raw_content", "name", "of that index: an alias, whose indexes end with a number")
    search_username: str | None = setting(None, "name", "user name for that server")
    search_password: str | None = setting(
        None, "secret", "password for that server; set it in the environment, not with `-s`", secret=True
    )
    search_ca_file: Path | None = setting(
        None, "path", "CA certificates (PEM) that verify that server; unset: those of the package certifi"
    )
