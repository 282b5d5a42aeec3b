"""Articles as other programs read them.

The JSON Schemas and the tables of docs/data-format.md are generated from these classes.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

from feedcrawl.domain.articles.page_records import FileState
from feedcrawl.domain.schemas import (
    About,
    Count,
    HttpStatus,
    JsonList,
    Sha256,
    Share,
    Time,
    TimeOrEmpty,
    Uid,
    Uuid,
    UuidOrEmpty,
    WebUrl,
    record,
)


@record("article", "Article")
class ArticleRecord(TypedDict):
    """One version of one article: a line of articles/<day>.ndjson."""

    type: Annotated[Literal["article"], About("Tells records apart where files are joined")]
    uid: Annotated[Uid, About("The first 16 hex digits of the SHA-1 of canonical_url")]
    url: Annotated[WebUrl, About("The URL as it was published or queued")]
    category: Annotated[str | None, About("The first of categories")]
    categories: Annotated[
        list[str],
        About(
            "Labels of the feeds and queue items that wanted it when it was stored; rss:articles_by_category "
            "has later ones too"
        ),
    ]
    canonical_url: Annotated[WebUrl, About("The URL that names the article")]
    final_url: Annotated[str | None, About("The URL that answered, after redirects")]
    fetched_ts: Annotated[float, About("Unix time of the fetch, to the millisecond")]
    fetched_at: Annotated[Time, About("The same as text")]
    status: Annotated[Literal["success"], About("Failures are not in the files")]
    http_status: Annotated[HttpStatus | None, About("Status of the last answer; null without one")]
    feed_id: Annotated[Uuid | None, About("The feed that named it")]
    entry_uid: Annotated[str | None, About("The entry that named it")]
    fetch_id: Annotated[Uuid | None, About("The exchange in the archive")]
    title: Annotated[str | None, About("Without the site's name")]
    clean_text: Annotated[str, About("Text of the article: a line per block, white space folded")]
    text_len: Annotated[Count, About("Characters of clean_text")]
    raw_len: Annotated[Count, About("Characters of the page's HTML")]
    abstract: Annotated[str | None, About("The first paragraph of more than 40 characters")]
    image: Annotated[str | None, About("URL of its picture")]
    authors: Annotated[list[str], About("Names")]
    published: Annotated[Time | None, About("When it says it was published")]
    modified: Annotated[Time | None, About("When it says it was changed")]
    language: Annotated[str | None, About("Language tag")]
    site_name: Annotated[str | None, About("Name of the publication")]
    content_html: Annotated[str, About("Sanitised HTML: absolute links, no scripts, styles or handlers")]
    content_hash: Annotated[Sha256, About("SHA-256 of clean_text")]
    extractor: Annotated[
        str,
        About(
            "What found the text: rules, prose, readability, structured, trafilatura, embedded (in the page's"
            " scripts) or feed",
            pattern="^[a-z-]+$",
        ),
    ]
    rendered: NotRequired[
        Annotated[Literal[True], About("true where the text is that of the page once its scripts had run")]
    ]
    files: Annotated[
        list[FileState],
        About("Media files, where FEEDCRAWL_MEDIA_FILES is on; what is pending here is told by `files/`"),
    ]


ARTICLE_HASH_EITHER = (
    {
        "properties": {
            "status": {"const": "success"},
            "failure": False,
            "failure_reason": False,
            "failure_detail": False,
        },
        "required": [
            "title",
            "clean_text",
            "text_len",
            "raw_len",
            "abstract",
            "image",
            "authors",
            "published",
            "modified",
            "language",
            "site_name",
            "content_html",
            "content_hash",
            "extractor",
            "files",
        ],
    },
    {
        "properties": {
            "status": {"const": "failure"},
            "title": False,
            "clean_text": False,
            "abstract": False,
            "image": False,
            "authors": False,
            "published": False,
            "modified": False,
            "language": False,
            "site_name": False,
            "content_html": False,
            "content_hash": False,
            "extractor": False,
            "rendered": False,
            "files": False,
        },
        "required": ["failure", "failure_reason", "failure_detail"],
    },
)


@record("article_hash", "Article (HASH)", *ARTICLE_HASH_EITHER)
class ArticleHashRecord(TypedDict):
    """The fields of rss:article_canonical:<uid>; every value is text, empty where there is none."""

    uid: Annotated[Uid, About("The first 16 hex digits of the SHA-1 of canonical_url")]
    url: Annotated[WebUrl, About("The URL as it was published or queued")]
    category: Annotated[str, About("The first of categories")]
    categories: Annotated[
        JsonList,
        About(
            "Labels of the feeds and queue items that wanted it when it was stored; rss:articles_by_category "
            "has later ones too, as JSON text"
        ),
    ]
    canonical_url: Annotated[WebUrl, About("The URL that names the article")]
    final_url: Annotated[str, About("The URL that answered, after redirects")]
    fetched_ts: Annotated[str, About("Unix time of the fetch, to the millisecond", pattern=r"^\d+(\.\d+)?$")]
    fetched_at: Annotated[str, About("The same as text", pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")]
    status: Annotated[Literal["success", "failure"], About("success or failure")]
    http_status: Annotated[str, About("Status of the last answer; null without one", pattern=r"^\d*$")]
    feed_id: Annotated[UuidOrEmpty, About("The feed that named it")]
    entry_uid: Annotated[str, About("The entry that named it")]
    fetch_id: Annotated[UuidOrEmpty, About("The exchange in the archive")]
    title: NotRequired[Annotated[str, About("Without the site's name")]]
    clean_text: NotRequired[Annotated[str, About("Text of the article: a line per block, white space folded")]]
    text_len: Annotated[str, About("Characters of clean_text", pattern=r"^\d+$")]
    raw_len: Annotated[str, About("Characters of the page's HTML", pattern=r"^\d+$")]
    abstract: NotRequired[Annotated[str, About("The first paragraph of more than 40 characters")]]
    image: NotRequired[Annotated[str, About("URL of its picture")]]
    authors: NotRequired[Annotated[JsonList, About("Names, as JSON text")]]
    published: NotRequired[Annotated[TimeOrEmpty, About("When it says it was published")]]
    modified: NotRequired[Annotated[TimeOrEmpty, About("When it says it was changed")]]
    language: NotRequired[Annotated[str, About("Language tag")]]
    site_name: NotRequired[Annotated[str, About("Name of the publication")]]
    content_html: NotRequired[Annotated[str, About("Sanitised HTML: absolute links, no scripts, styles or handlers")]]
    content_hash: NotRequired[Annotated[Sha256, About("SHA-256 of clean_text")]]
    extractor: NotRequired[
        Annotated[
            str,
            About(
                "What found the text: rules, prose, readability, structured, trafilatura, embedded (in the page's"
                " scripts) or feed",
                pattern="^[a-z-]+$",
            ),
        ]
    ]
    rendered: NotRequired[
        Annotated[Literal["true"], About("true where the text is that of the page once its scripts had run")]
    ]
    failure: NotRequired[
        Annotated[
            Literal["FAIL_BAD_HTML", "FAIL_HTTP", "FAIL_TIMEOUT", "FAIL_PARSE", "FAIL_EMPTY"], About("Failure code")
        ]
    ]
    failure_reason: NotRequired[Annotated[str, About("Reason code, as in logs and dead letters")]]
    failure_detail: NotRequired[Annotated[str, About("A sentence for people, at most 500 characters")]]
    files: NotRequired[
        Annotated[JsonList, About("Media files as in [Article](#article), as JSON text, kept right as they end")]
    ]


@record("merge", "Merge")
class MergeRecord(TypedDict):
    """How two articles became one, as `scrapy merges --json` prints it."""

    uid: Annotated[
        Uid, About("The uid that lost its article: the page's own, or the one asked for where the page names another")
    ]
    winner: Annotated[Uid, About("The uid of the article that it joined")]
    why: Annotated[
        Literal["canonical", "same_text", "near_text"], About("canonical, same_text or near_text, as in article_merged")
    ]
    similarity: Annotated[Share | None, About("The share of text that both have, 0 to 1; null where a URL led there")]
    lacked: Annotated[list[str], About("Categories that the winner has by this")]
    at: Annotated[str, About("When", format="date-time")]
    at_ts: Annotated[float, About("The same as Unix time")]
    asked: Annotated[Uid, About("The uid under which it was asked for")]
    url: Annotated[WebUrl, About("The URL as it was published or queued")]
    canonical_url: Annotated[WebUrl, About("The URL by which the page is known")]
    winner_url: Annotated[WebUrl, About("The winner's canonical URL")]
    title: Annotated[str | None, About("The title of the page")]
    categories: Annotated[list[str], About("Labels that wanted it")]
    collections: Annotated[list[str], About("Collections that held it, and hold the winner since")]
