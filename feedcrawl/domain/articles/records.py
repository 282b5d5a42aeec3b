"""The records of articles that other programs read.

The JSON Schemas and the tables of docs/data-format.md are generated from these classes.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

from feedcrawl.domain.articles.page_records import FileState, PostRecord
from feedcrawl.domain.schemas import (
    About,
    Alternative,
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

Categories = Annotated[
    list[str],
    About(
        "Labels of the feeds and queue items that named the article when it was stored; "
        "rss:articles_by_category has later ones too"
    ),
]
DeletedAt = Annotated[Time, About("Time at which the publisher had withdrawn the article; absent if it has not")]
DeletedWhy = Annotated[
    Literal["entry_deleted", "http_410"],
    About("entry_deleted: its complete feed has the entry no longer; http_410: its page is gone"),
]
ExtractorName = Annotated[
    str,
    About(
        "Extractor of the text: rules, prose, thread, readability, structured, trafilatura, area (all of a page but"
        " menus, filters and footers), embedded (in the page's scripts) or feed",
        pattern="^[a-z-]+$",
    ),
]
PageKind = Annotated[
    Literal["article", "documentation", "forum", "listing", "product", "question", "service"],
    About(
        "Kind of the page, which decides what its text is: all posts of a `forum` thread or `question`, without"
        " quotations of each other, the items of a `listing`, all sections of `documentation` and of a `service`; the"
        " body of an `article` or a `product`"
    ),
]


@record("article", "Article")
class ArticleRecord(TypedDict):
    """One version of one article: a line of articles/<day>.ndjson."""

    type: Annotated[Literal["article"], About("Kind of the record, for files that hold several kinds")]
    uid: Annotated[Uid, About("The first 16 hex digits of the SHA-1 of canonical_url")]
    url: Annotated[WebUrl, About("The URL as published or queued")]
    category: Annotated[str | None, About("The first of categories")]
    categories: Categories
    canonical_url: Annotated[WebUrl, About("The article's canonical URL; with a fragment if it is a part of its page")]
    final_url: Annotated[str | None, About("The final URL, after redirects")]
    fetched_ts: Annotated[float, About("Unix time of the fetch, to the millisecond")]
    fetched_at: Annotated[Time, About("fetched_ts as text")]
    status: Annotated[Literal["success"], About("Always success: failures are not in the files")]
    http_status: Annotated[HttpStatus | None, About("Status of the last response; null without one")]
    feed_id: Annotated[Uuid | None, About("The feed that named the article")]
    entry_uid: Annotated[str | None, About("The entry that named the article")]
    fetch_id: Annotated[Uuid | None, About("The request and response in the archive")]
    outgoing: NotRequired[
        Annotated[str, About("Local address or proxy (without credentials) of the request, where one is configured")]
    ]
    title: Annotated[str | None, About("Title without the site's name")]
    clean_text: Annotated[str, About("Text of the article: one line for each block, white space folded")]
    text_len: Annotated[Count, About("Characters of clean_text")]
    raw_len: Annotated[Count, About("Characters of the page's HTML")]
    abstract: Annotated[str | None, About("The first paragraph of more than 40 characters")]
    image: Annotated[str | None, About("URL of the article's image")]
    authors: Annotated[list[str], About("Names of the authors")]
    published: Annotated[Time | None, About("The page's date of publication, at most a day after the fetch")]
    modified: Annotated[Time | None, About("The page's date of the last change")]
    language: Annotated[str | None, About("Language tag")]
    site_name: Annotated[str | None, About("Name of the publication")]
    content_html: Annotated[str, About("Sanitised HTML: absolute links, no scripts, styles or handlers")]
    content_hash: Annotated[Sha256, About("SHA-256 of clean_text")]
    extractor: ExtractorName
    page_kind: NotRequired[PageKind]
    posts: NotRequired[
        Annotated[
            list[PostRecord],
            About(
                "Posts of a `forum` thread or `question`, the first post first, at most 100 and 256 KiB of text; absent"
                " where none were found, and for other kinds of pages"
            ),
        ]
    ]
    rendered: NotRequired[
        Annotated[Literal[True], About("true if the text is that of the rendered page, after its scripts ran")]
    ]
    files: Annotated[
        list[FileState],
        About("Media files, if FEEDCRAWL_MEDIA_FILES is on; the final state of a pending file is in `files/`"),
    ]
    deleted_at: NotRequired[DeletedAt]
    deleted_why: NotRequired[DeletedWhy]


MergeReason = Literal["canonical", "same_text", "near_text"]


ARTICLE_HASH_EITHER: tuple[Alternative, ...] = (
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
            "posts": False,
            "rendered": False,
            "files": False,
        },
        "required": ["failure", "failure_reason", "failure_detail"],
    },
)


@record("article_hash", "Article (HASH)", *ARTICLE_HASH_EITHER)
class ArticleHashRecord(TypedDict):
    """The fields of rss:article_canonical:<uid>; every value is text, "" if there is none."""

    uid: Annotated[Uid, About("The first 16 hex digits of the SHA-1 of canonical_url")]
    url: Annotated[WebUrl, About("The URL as published or queued")]
    category: Annotated[str, About("The first of categories")]
    categories: Annotated[
        JsonList,
        About(
            "Labels of the feeds and queue items that named the article when it was stored; "
            "rss:articles_by_category has later ones too. JSON text"
        ),
    ]
    canonical_url: Annotated[WebUrl, About("The article's canonical URL; with a fragment if it is a part of its page")]
    final_url: Annotated[str, About("The final URL, after redirects")]
    fetched_ts: Annotated[str, About("Unix time of the fetch, to the millisecond", pattern=r"^\d+(\.\d+)?$")]
    fetched_at: Annotated[str, About("fetched_ts as text", pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")]
    status: Annotated[Literal["success", "failure"], About("success or failure")]
    http_status: Annotated[str, About("Status of the last response; empty without one", pattern=r"^\d*$")]
    feed_id: Annotated[UuidOrEmpty, About("The feed that named the article")]
    entry_uid: Annotated[str, About("The entry that named the article")]
    fetch_id: Annotated[UuidOrEmpty, About("The request and response in the archive")]
    outgoing: NotRequired[
        Annotated[str, About("Local address or proxy (without credentials) of the request, where one is configured")]
    ]
    title: NotRequired[Annotated[str, About("Title without the site's name")]]
    clean_text: NotRequired[Annotated[str, About("Text of the article: one line for each block, white space folded")]]
    text_len: Annotated[str, About("Characters of clean_text", pattern=r"^\d+$")]
    raw_len: Annotated[str, About("Characters of the page's HTML", pattern=r"^\d+$")]
    abstract: NotRequired[Annotated[str, About("The first paragraph of more than 40 characters")]]
    image: NotRequired[Annotated[str, About("URL of the article's image")]]
    authors: NotRequired[Annotated[JsonList, About("Names of the authors, as JSON text")]]
    published: NotRequired[Annotated[TimeOrEmpty, About("The page's date of publication")]]
    modified: NotRequired[Annotated[TimeOrEmpty, About("The page's date of the last change")]]
    language: NotRequired[Annotated[str, About("Language tag")]]
    site_name: NotRequired[Annotated[str, About("Name of the publication")]]
    content_html: NotRequired[Annotated[str, About("Sanitised HTML: absolute links, no scripts, styles or handlers")]]
    content_hash: NotRequired[Annotated[Sha256, About("SHA-256 of clean_text")]]
    extractor: NotRequired[ExtractorName]
    page_kind: NotRequired[PageKind]
    posts: NotRequired[Annotated[JsonList, About("Posts of a thread as in [Article](#article), as JSON text")]]
    rendered: NotRequired[
        Annotated[Literal["true"], About("true if the text is that of the rendered page, after its scripts ran")]
    ]
    failure: NotRequired[
        Annotated[
            Literal["FAIL_BAD_HTML", "FAIL_HTTP", "FAIL_TIMEOUT", "FAIL_PARSE", "FAIL_EMPTY"], About("Failure code")
        ]
    ]
    failure_reason: NotRequired[Annotated[str, About("Reason code, as in logs and dead letters")]]
    failure_detail: NotRequired[Annotated[str, About("Description for people, at most 500 characters")]]
    files: NotRequired[
        Annotated[
            JsonList,
            About("Media files as in [Article](#article), as JSON text; updated when a file is stored or fails"),
        ]
    ]
    deleted_at: NotRequired[DeletedAt]
    deleted_why: NotRequired[DeletedWhy]


@record("merge", "Merge")
class MergeRecord(TypedDict):
    """The merge of two articles, as `scrapy merges --json` prints it."""

    uid: Annotated[Uid, About("The merged uid: that of the page, or of the requested URL if the page names another")]
    winner: Annotated[Uid, About("The uid of the article that this one was merged into")]
    why: Annotated[MergeReason, About("canonical, same_text or near_text, as in article_merged")]
    similarity: Annotated[Share | None, About("Share of text in common, 0 to 1; null if a URL led to the winner")]
    lacked: Annotated[list[str], About("Categories that the winner got by this merge")]
    at: Annotated[str, About("Time of the merge", format="date-time")]
    at_ts: Annotated[float, About("`at` as Unix time")]
    asked: Annotated[Uid, About("The uid of the requested URL")]
    url: Annotated[WebUrl, About("The URL as published or queued")]
    canonical_url: Annotated[WebUrl, About("The page's canonical URL")]
    winner_url: Annotated[WebUrl, About("The winner's canonical URL")]
    title: Annotated[str | None, About("The title of the page")]
    categories: Annotated[list[str], About("Labels of the feeds and queue items that named the page")]
    collections: Annotated[list[str], About("Collections that contained the article and now contain the winner")]
