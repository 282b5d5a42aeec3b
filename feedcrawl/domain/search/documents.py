"""The search document of an article: the record `raw_content`, and the labels by which it is filtered."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, TypedDict, cast

from feedcrawl.domain.articles.query import OUTLINE
from feedcrawl.domain.schemas import About, Count, Sha256, Time, Uid, Uuid, WebUrl, record
from feedcrawl.domain.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from feedcrawl.domain.articles.fields import ArticleFields

MAX_TEXT_CHARS: Final = 200_000
"""Characters of a text that are indexed; the rest of a longer text is not found."""


@record("raw_content", "Search document")
class RawContentRecord(TypedDict):
    """The document of an article in the search index; its id is the uid."""

    uid: Annotated[Uid, About("The article, and the id of the document")]
    url: Annotated[WebUrl, About("The URL as published or queued")]
    canonical_url: Annotated[WebUrl, About("The article's canonical URL")]
    host: Annotated[str, About("Host of canonical_url")]
    source: Annotated[str | None, About("Name of the configured source whose site contains canonical_url")]
    title: Annotated[str | None, About("Title without the site's name")]
    text: Annotated[str, About("Text of the article, at most 200,000 characters")]
    text_len: Annotated[Count, About("Characters of the whole text")]
    abstract: Annotated[str | None, About("The first paragraph of more than 40 characters")]
    image: Annotated[str | None, About("URL of the article's image")]
    authors: Annotated[list[str], About("Names of the authors")]
    category: Annotated[str | None, About("The first of categories")]
    categories: Annotated[list[str], About("Labels of the feeds and queue items that named the article so far")]
    language: Annotated[str | None, About("Language tag")]
    published: Annotated[Time | None, About("The page's date of publication")]
    modified: Annotated[Time | None, About("The page's date of the last change")]
    site_name: Annotated[str | None, About("Name of the publication")]
    feed_id: Annotated[Uuid | None, About("The feed that named the article")]
    entry_uid: Annotated[str | None, About("The entry that named the article")]
    fetch_id: Annotated[Uuid | None, About("The request and response in the archive")]
    fetched_ts: Annotated[float, About("Unix time of the fetch, to the millisecond")]
    fetched_at: Annotated[Time, About("fetched_ts as text")]
    content_hash: Annotated[Sha256, About("SHA-256 of the whole text")]
    extractor: Annotated[str, About("Extractor of the text, as in Article")]


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on a document that must all hold.

    `since`: Unix time of the fetch; `source`: the name of a source or a host; `language`: a range, so that `en`
    includes `en-GB`.
    """

    since: float | None = None
    category: str | None = None
    source: str | None = None
    host: str | None = None
    language: str | None = None
    feed_id: str | None = None

    def labels(self) -> tuple[str, ...]:
        """The labels that a document must have."""
        conditions = (
            ("category", self.category),
            ("source", self.source),
            ("host", self.host),
            ("language", self.language),
            ("feed", self.feed_id),
        )
        return tuple(label(kind, value) for kind, value in conditions if value is not None)


def document_of(article: ArticleFields, *, source: str | None, categories: Sequence[str]) -> RawContentRecord:
    """The search document of an article's record (`Article` of docs/data-format.md).

    `categories` are labels that the article has got since it was stored.
    """
    kept = {name: article.get(name) for name in OUTLINE if name in RawContentRecord.__annotations__}
    every = list(dict.fromkeys([*(article.get("categories") or ()), *categories]))
    text = article.get("clean_text") or ""
    document = kept | {
        "authors": article.get("authors") or [],
        "category": every[0] if every else None,
        "categories": every,
        "host": host_of(article["canonical_url"]) or "",
        "source": source,
        "text": text[:MAX_TEXT_CHARS],
    }
    return cast("RawContentRecord", document)


def labels_of(document: RawContentRecord) -> tuple[str, ...]:
    """The labels of a document; each value of a filter is one word, so that an index finds it like a word."""
    return tuple(dict.fromkeys(_labels(document)))


def _labels(document: RawContentRecord) -> Iterator[str]:
    yield from (label("category", each) for each in document["categories"])
    host = document["host"]
    yield label("host", host)
    yield label("source", host)
    if document["source"]:
        yield label("source", document["source"])
    if document["feed_id"]:
        yield label("feed", document["feed_id"])
    parts = (document["language"] or "").split("-")
    yield from (label("language", "-".join(parts[: end + 1])) for end in range(len(parts)) if parts[0])


def label(kind: str, value: str) -> str:
    """One word for a kind of filter and a value, letters compared without case; values have any characters."""
    text = f"{kind}:{value.lower()}".encode("utf-8", "surrogatepass")
    return f"{kind[0]}{hashlib.sha1(text, usedforsecurity=False).hexdigest()[:15]}"
