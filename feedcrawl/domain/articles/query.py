"""The conditions that select stored articles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.sites.owners import Sources
from feedcrawl.domain.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Mapping

FIELDS: Final = ("feed_id", "canonical_url", "language")
"""The fields of an article that `ArticleFilter.matches` reads."""
TEXTS: Final = frozenset({"clean_text", "content_html"})
"""Fields in which an empty string is a value; in other fields it means that there is none."""
OUTLINE: Final = (
    *("uid", "url", "canonical_url", "category", "categories", "title", "abstract", "image", "authors", "published"),
    *("modified", "language", "site_name", "feed_id", "entry_uid", "fetch_id", "fetched_ts", "fetched_at", "text_len"),
    *("content_hash", "extractor", "page_kind", "deleted_at", "deleted_why"),
)
"""The fields of an article without its text, for lists of articles."""


@dataclass(frozen=True, slots=True)
class ArticleFilter:
    """Conditions that must all hold. `since`: Unix time; `language`: a range, so that `en` includes `en-GB`; `feeds`:
    ids of feeds, of which one must have named the article; `source`: the name of the source among `sources` whose
    settings hold for the article's URL.
    """

    since: float | None = None
    feed_id: str | None = None
    host: str | None = None
    language: str | None = None
    category: str | None = None
    feeds: frozenset[str] | None = None
    source: str | None = None
    sources: Sources = field(default_factory=Sources)

    @property
    def is_of_record(self) -> bool:
        """True if a condition concerns an article's own fields."""
        return any(each is not None for each in (self.feed_id, self.host, self.language, self.feeds, self.source))

    def matches(self, article: Mapping[str, str]) -> bool:
        """True if an article with these fields (FIELDS) is selected; the indexes select by time and category."""
        return (
            (self.feed_id is None or article.get("feed_id") == self.feed_id)
            and (self.host is None or host_of(article.get("canonical_url", "")) == self.host.lower())
            and (self.language is None or _is_in_range(article.get("language", ""), self.language))
            and (self.feeds is None or article.get("feed_id") in self.feeds)
            and (self.source is None or self._source_of(article.get("canonical_url", "")) == self.source)
        )

    def _source_of(self, url: str) -> str | None:
        try:
            found = self.sources.of(url)
        except InvalidUrl:
            return None
        return None if found is None else found.name


def _is_in_range(tag: str, language_range: str) -> bool:
    """True if a language tag is in a range (RFC 4647 section 3.3.1)."""
    return f"{tag}-".lower().startswith(f"{language_range}-".lower())
