"""Events about articles, as other programs read them.

The JSON Schemas and the tables of docs/data-format.md are generated from these classes.
"""

from typing import Annotated, Literal, TypedDict

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


@record("article_ready", "article_ready")
class ArticleReadyRecord(TypedDict):
    """An article is stored for the first time. Event id: article_ready:<uid>:<content_hash[:16]>."""

    uid: Annotated[Uid, About("The first 16 hex digits of the SHA-1 of canonical_url")]
    url: Annotated[WebUrl, About("The URL as it was published or queued")]
    canonical_url: Annotated[WebUrl, About("The URL that names the article")]
    category: Annotated[str | None, About("The first of categories")]
    categories: Annotated[
        list[str],
        About(
            "Labels of the feeds and queue items that wanted it when it was stored; rss:articles_by_category "
            "has later ones too"
        ),
    ]
    title: Annotated[str | None, About("Without the site's name")]
    published: Annotated[Time | None, About("When it says it was published")]
    language: Annotated[str | None, About("Language tag")]
    content_hash: Annotated[Sha256, About("SHA-256 of clean_text")]
    text_len: Annotated[Count, About("Characters of clean_text")]
    feed_id: Annotated[Uuid | None, About("The feed that named it")]
    entry_uid: Annotated[str | None, About("The entry that named it")]
    fetch_id: Annotated[Uuid | None, About("The exchange in the archive")]
    fetched_ts: Annotated[float, About("Unix time of the fetch, to the millisecond")]


@record("article_updated", "article_updated")
class ArticleUpdatedRecord(TypedDict):
    """A stored article was fetched again and its text differs, or was read again from the archive (scrapy replay)
    and any field does. Event id: article_updated:<uid>:<content_hash[:16]>, of a replay with :<8 hex digits over
    the fields> behind it.
    """

    uid: Annotated[Uid, About("The first 16 hex digits of the SHA-1 of canonical_url")]
    url: Annotated[WebUrl, About("The URL as it was published or queued")]
    canonical_url: Annotated[WebUrl, About("The URL that names the article")]
    category: Annotated[str | None, About("The first of categories")]
    categories: Annotated[
        list[str],
        About(
            "Labels of the feeds and queue items that wanted it when it was stored; rss:articles_by_category "
            "has later ones too"
        ),
    ]
    title: Annotated[str | None, About("Without the site's name")]
    published: Annotated[Time | None, About("When it says it was published")]
    language: Annotated[str | None, About("Language tag")]
    content_hash: Annotated[Sha256, About("SHA-256 of clean_text")]
    text_len: Annotated[Count, About("Characters of clean_text")]
    feed_id: Annotated[Uuid | None, About("The feed that named it")]
    entry_uid: Annotated[str | None, About("The entry that named it")]
    fetch_id: Annotated[Uuid | None, About("The exchange in the archive")]
    fetched_ts: Annotated[float, About("Unix time of the fetch, to the millisecond")]


@record("article_failed", "article_failed")
class ArticleFailedRecord(TypedDict):
    """A URL has ended without an article. Event id: article_failed:<uid>:<failure>."""

    uid: Annotated[Uid, About("The first 16 hex digits of the SHA-1 of canonical_url")]
    url: Annotated[WebUrl, About("The URL as it was published or queued")]
    category: Annotated[str | None, About("The first of categories")]
    failure: Annotated[
        Literal["FAIL_BAD_HTML", "FAIL_HTTP", "FAIL_TIMEOUT", "FAIL_PARSE", "FAIL_EMPTY"], About("Failure code")
    ]
    failure_reason: Annotated[str, About("Reason code, as in logs and dead letters")]
    failure_detail: Annotated[str | None, About("A sentence for people, at most 500 characters")]
    http_status: Annotated[HttpStatus | None, About("Status of the last answer; null without one")]
    fetched_ts: Annotated[float, About("Unix time of the fetch, to the millisecond")]


@record("article_merged", "article_merged")
class ArticleMergedRecord(TypedDict):
    """An article or URL turned out to be a known article. Event id: article_merged:<uid>:<winner>."""

    uid: Annotated[Uid, About("The uid under which it was asked for or read, and which has no article of its own")]
    winner: Annotated[Uid, About("The uid of the article")]
    url: Annotated[WebUrl, About("The URL as it was published or queued")]
    canonical_url: Annotated[WebUrl, About("The URL that led to the winner; for equal texts the winner's own")]
    why: Annotated[
        Literal["canonical", "redirect", "same_text", "near_text"],
        About(
            "canonical: the page names the winner; redirect: its server leads there; same_text, near_text: it"
            " tells the same story"
        ),
    ]
    similarity: Annotated[Share | None, About("The share of text that both have, 0 to 1; null where a URL led there")]


@record("article_unmerged", "article_unmerged")
class ArticleUnmergedRecord(TypedDict):
    """An article that had joined another one is one of its own again. Event id: article_unmerged:<uid>:<winner>."""

    uid: Annotated[Uid, About("The uid of the article")]
    winner: Annotated[Uid, About("The uid that it had joined")]
    url: Annotated[WebUrl, About("The URL as it was published or queued")]
    canonical_url: Annotated[WebUrl, About("The URL that names the article")]


@record("webpage_fetched", "webpage_fetched")
class WebpageFetchedRecord(TypedDict):
    """A page was read. Event id: webpage_fetched:<sha256(url)[:16]>:<content_hash[:16]>, and the Unix time where a
    cached page is told again.
    """

    type: Annotated[Literal["webpage_fetched"], About("The event's type once more")]
    url: Annotated[WebUrl, About("The URL as it was published or queued")]
    cache_key: Annotated[
        str,
        About(
            "The Redis key that holds the decoded HTML; empty if it is not cached", pattern="^(webpage:[0-9a-f]{64})?$"
        ),
    ]
    status_code: Annotated[HttpStatus, About("HTTP status")]
    content_type: Annotated[str | None, About("Content-Type as received; null where a cached page is told again")]
    content_length: Annotated[Count, About("Bytes of the decoded HTML in UTF-8")]
    content_hash: Annotated[Sha256, About("SHA-256 of those bytes")]
    fetched_at: Annotated[Time, About("When")]
