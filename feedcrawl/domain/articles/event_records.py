"""The records of events about articles that other programs read.

The JSON Schemas and the tables of docs/data-format.md are generated from these classes.
"""

from typing import Annotated, Literal, TypedDict

from feedcrawl.domain.articles.records import Categories
from feedcrawl.domain.schemas import (
    About,
    Count,
    HttpStatus,
    Sha256,
    Share,
    Time,
    Uid,
    Uuid,
    WebUrl,
    record,
)


class StoredArticleEvent(TypedDict):
    """An event about a stored article."""

    uid: Annotated[Uid, About("The first 16 hex digits of the SHA-1 of canonical_url")]
    url: Annotated[WebUrl, About("The URL as published or queued")]
    canonical_url: Annotated[WebUrl, About("The article's canonical URL")]
    category: Annotated[str | None, About("The first of categories")]
    categories: Categories
    title: Annotated[str | None, About("Title without the site's name")]
    published: Annotated[Time | None, About("The page's date of publication")]
    language: Annotated[str | None, About("Language tag")]
    content_hash: Annotated[Sha256, About("SHA-256 of clean_text")]
    text_len: Annotated[Count, About("Characters of clean_text")]
    feed_id: Annotated[Uuid | None, About("The feed that named the article")]
    entry_uid: Annotated[str | None, About("The entry that named the article")]
    fetch_id: Annotated[Uuid | None, About("The request and response in the archive")]
    fetched_ts: Annotated[float, About("Unix time of the fetch, to the millisecond")]


@record("article_ready", "article_ready")
class ArticleReadyRecord(StoredArticleEvent):
    """An article is stored for the first time. Event id: article_ready:<uid>:<content_hash[:16]>."""


@record("article_updated", "article_updated")
class ArticleUpdatedRecord(StoredArticleEvent):
    """A stored article was fetched again with another text, or extracted again from the archive (scrapy replay)
    with any other field. Event id: article_updated:<uid>:<content_hash[:16]>; of a replay followed by :<8 hex
    digits over the fields>.
    """


@record("article_failed", "article_failed")
class ArticleFailedRecord(TypedDict):
    """A URL ended without an article. Event id: article_failed:<uid>:<failure>."""

    uid: Annotated[Uid, About("The first 16 hex digits of the SHA-1 of canonical_url")]
    url: Annotated[WebUrl, About("The URL as published or queued")]
    category: Annotated[str | None, About("The first of categories")]
    failure: Annotated[
        Literal["FAIL_BAD_HTML", "FAIL_HTTP", "FAIL_TIMEOUT", "FAIL_PARSE", "FAIL_EMPTY"], About("Failure code")
    ]
    failure_reason: Annotated[str, About("Reason code, as in logs and dead letters")]
    failure_detail: Annotated[str | None, About("Description for people, at most 500 characters")]
    http_status: Annotated[HttpStatus | None, About("Status of the last response; null without one")]
    fetched_ts: Annotated[float, About("Unix time of the fetch, to the millisecond")]


@record("article_merged", "article_merged")
class ArticleMergedRecord(TypedDict):
    """An article or URL was merged into a known article. Event id: article_merged:<uid>:<winner>."""

    uid: Annotated[Uid, About("The uid of the requested URL or of the page, which has no article of its own")]
    winner: Annotated[Uid, About("The uid of the article")]
    url: Annotated[WebUrl, About("The URL as published or queued")]
    canonical_url: Annotated[
        WebUrl, About("The URL that led to the winner; for equal texts the winner's canonical URL")
    ]
    why: Annotated[
        Literal["canonical", "redirect", "same_text", "near_text"],
        About(
            "canonical: the page names the winner as canonical URL; redirect: its server redirects to the winner;"
            " same_text, near_text: the texts are equal or nearly equal"
        ),
    ]
    similarity: Annotated[Share | None, About("Share of text in common, 0 to 1; null if a URL led to the winner")]


@record("article_unmerged", "article_unmerged")
class ArticleUnmergedRecord(TypedDict):
    """A merge was undone: the article is separate again. Event id: article_unmerged:<uid>:<winner>."""

    uid: Annotated[Uid, About("The uid of the article")]
    winner: Annotated[Uid, About("The uid of the article that it had been merged into")]
    url: Annotated[WebUrl, About("The URL as published or queued")]
    canonical_url: Annotated[WebUrl, About("The article's canonical URL")]


@record("webpage_fetched", "webpage_fetched")
class WebpageFetchedRecord(TypedDict):
    """A page was fetched. Event id: webpage_fetched:<sha256(url)[:16]>:<content_hash[:16]>, followed by the Unix
    time if a cached page is reported again.
    """

    type: Annotated[Literal["webpage_fetched"], About("The type of the event")]
    url: Annotated[WebUrl, About("The URL as published or queued")]
    cache_key: Annotated[
        str,
        About("The Redis key of the decoded HTML; empty if it is not cached", pattern="^(webpage:[0-9a-f]{64})?$"),
    ]
    status_code: Annotated[HttpStatus, About("HTTP status")]
    content_type: Annotated[str | None, About("Content-Type as received; null if a cached page is reported again")]
    content_length: Annotated[Count, About("Bytes of the decoded HTML in UTF-8")]
    content_hash: Annotated[Sha256, About("SHA-256 of those bytes")]
    fetched_at: Annotated[Time, About("Time of the fetch")]


@record("url_known", "url_known")
class UrlKnownRecord(TypedDict):
    """A URL was queued and is not fetched, because it ended within `FEEDCRAWL_REMEMBER_SEC`, or because another URL
    brought its article (`already_stored`). The events of its stored result (article_ready, article_failed,
    webpage_fetched) follow once more, each with the Unix time at the end of its id. Event id:
    url_known:<uid>:<Unix time>.
    """

    uid: Annotated[Uid, About("The uid of the queued URL")]
    url: Annotated[str, About("The URL as queued")]
    category: Annotated[str | None, About("The category named with the URL")]
    status: Annotated[str | None, About("fetched, dead or moved: how the URL ended")]
    reason: Annotated[str | None, About("Reason code of the end")]
    fetched_at: Annotated[Time | None, About("Time of its last fetch")]
    article_uid: Annotated[Uid | None, About("The stored article, which may be another URL's; null if none is stored")]
    queued_at: Annotated[Time, About("Time at which the URL was queued again")]


@record("article_deleted", "article_deleted")
class ArticleDeletedRecord(TypedDict):
    """The publisher has withdrawn a stored article; the article stays stored, with the mark `deleted_at`. Event id:
    article_deleted:<uid>:<at>.
    """

    uid: Annotated[Uid, About("The uid of the article")]
    canonical_url: Annotated[WebUrl, About("The article's canonical URL")]
    why: Annotated[
        Literal["entry_deleted", "http_410"],
        About("entry_deleted: its complete feed has the entry no longer; http_410: its page is gone"),
    ]
    at: Annotated[Time, About("Time of the poll or of the response")]
