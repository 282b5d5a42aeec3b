"""The record of an article, or of a failure, in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from feedcrawl.domain.articles.page_records import FileState, PostRecord


DeletedWhy = Literal["entry_deleted", "http_410"]


class ArticleFields(TypedDict, total=False):
    """The record of an article or of its failure, in memory: the values of `ArticleHashRecord` with their own types.

    Every field may be absent: readers of the HASH name the fields that they read, and earlier versions wrote fewer.
    """

    type: Literal["article"]
    uid: str
    url: str
    category: str | None
    categories: list[str]
    canonical_url: str
    final_url: str | None
    fetched_ts: float
    fetched_at: str
    status: Literal["success", "failure"]
    http_status: int | None
    feed_id: str | None
    entry_uid: str | None
    fetch_id: str | None
    title: str | None
    clean_text: str
    text_len: int
    raw_len: int
    abstract: str | None
    image: str | None
    authors: list[str]
    published: str | None
    modified: str | None
    language: str | None
    site_name: str | None
    content_html: str | None
    content_hash: str
    extractor: str
    page_kind: str
    posts: list[PostRecord]
    rendered: bool
    outgoing: str
    files: list[FileState]
    failure: str | None
    failure_reason: str
    failure_detail: str
    deleted_at: str
    deleted_why: DeletedWhy
