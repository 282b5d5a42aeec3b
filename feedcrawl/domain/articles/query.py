"""Which of the stored articles are meant by whoever asks for some of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.urls import hostname

if TYPE_CHECKING:
    from collections.abc import Mapping

FIELDS: Final = ("feed_id", "canonical_url", "language")
"""What `Wanted.matches` looks at."""
TEXTS: Final = frozenset({"clean_text", "content_html"})
"""Fields of which an empty string is a value, and not the lack of one."""
OUTLINE: Final = (
    *("uid", "url", "canonical_url", "category", "categories", "title", "abstract", "image", "authors", "published"),
    *("modified", "language", "site_name", "feed_id", "entry_uid", "fetch_id", "fetched_ts", "fetched_at", "text_len"),
    *("content_hash", "extractor"),
)
"""An article without its text: what a list of articles shows of each."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Conditions that must all hold. `since` is a Unix time; `language` a range: `en` means `en-GB` too."""

    since: float | None = None
    feed_id: str | None = None
    host: str | None = None
    language: str | None = None
    category: str | None = None

    @property
    def is_of_record(self) -> bool:
        """Whether an article's own fields must be looked at."""
        return any(each is not None for each in (self.feed_id, self.host, self.language))

    def matches(self, article: Mapping[str, str]) -> bool:
        """Whether the fields of an article (`FIELDS`) are meant; time and category are the indexes' own."""
        return (
            (self.feed_id is None or article.get("feed_id") == self.feed_id)
            and (self.host is None or _host(article.get("canonical_url", "")) == self.host.lower())
            and (self.language is None or _speaks(article.get("language", ""), self.language))
        )


def _host(url: str) -> str | None:
    try:
        return hostname(url)
    except InvalidUrl:
        return None


def _speaks(tag: str, wanted: str) -> bool:
    """Whether a language tag lies in a range (RFC 4647 section 3.3.1)."""
    return f"{tag}-".lower().startswith(f"{wanted}-".lower())
